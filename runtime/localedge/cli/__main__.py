"""`python -m localedge.cli`: the command line where the script is not on PATH."""

from localedge.cli.main import main

if __name__ == "__main__":
    main()
