"""`python -m waterclock` is the command line."""

from waterclock.faces.cli import main

if __name__ == "__main__":
    main(prog_name="waterclock")
