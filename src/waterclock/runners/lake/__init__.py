"""The programs of lake jobs: what runs under a supervisor to clone, build, install, ask and execute."""
