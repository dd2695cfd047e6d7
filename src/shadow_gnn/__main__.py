"""`python -m shadow_gnn`: the same as the command `shadow`.

Not for: anything else (cli/main.py).
"""

from shadow_gnn.cli.main import main

if __name__ == "__main__":
    main()
