"""`make bench` runs the files bench_*.py; the tables of generated code are made by engine.py."""

from engine import main

if __name__ == "__main__":
    main()
