"""A model that works with an agent's own tools: it asks for deeds, and finds what does them among those of a request.

An agent declares tools of its own: one reads a file, one runs a command. `tools` finds them, `folder` places files
whose content no model could guess, `session` plays a scenario with them, and `server` finds out which conversation a
request belongs to. Nothing that the model asks for changes anything outside of that folder: commands are cat, ls,
printf and sleep, paths lie in the folder, and no other value of a call comes from what an agent declares.
"""
