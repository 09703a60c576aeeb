"""Whether the sources that claims, rules and scenarios cite can still be opened, and still say what they are cited for.

`citations` lists the sources, `fetching` gets their pages politely and within bounds, `pages` keeps them, and
`problems` compares both.
"""
