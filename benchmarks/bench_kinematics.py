"""`make bench` runs the files bench_*.py; the kinematics report is made by kinematics.py."""

from kinematics import main

if __name__ == "__main__":
    main()
