"""`make bench` runs the files bench_*.py; the dynamics report is made by dynamics.py."""

from dynamics import main, one_blas_thread

if __name__ == "__main__":
    one_blas_thread()
    main()
