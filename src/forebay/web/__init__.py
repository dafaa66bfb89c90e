"""The workbench: a page on which a link is sized while its sliders move (`forebay serve`)."""
