"""`python -m mechid`: the command line."""

from mechid.cli import main

if __name__ == "__main__":
    main()
