"""Published packages: their archives, downloaded once and never installed, and the files in them.

`settings` asks pip and npm which registries they use, `registries` finds the archives of a release there, `archives`
keeps and reads them within bounds, `candidates` compares the provider files of two releases.
"""
