def bounce(s): pass
def slide(s): pass
def restitution(s): pass
