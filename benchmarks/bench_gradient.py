"""`make bench` runs the files bench_*.py; the table of gradients is made by gradient.py."""

from gradient import main

if __name__ == "__main__":
    main()
