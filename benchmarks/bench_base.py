"""`make bench` runs the files bench_*.py; the report on base parameters is made by base.py."""

from base import main, one_blas_thread

if __name__ == "__main__":
    one_blas_thread()
    main()
