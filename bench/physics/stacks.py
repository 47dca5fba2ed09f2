def mass_ratio(s): pass
def stiffness_ratio(s): pass
def squeeze(s): pass
def fast_ball(s): pass
