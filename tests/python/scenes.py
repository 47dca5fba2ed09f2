"""Scenes and studies of the tests: a disc that is thrown at a floor, small enough to run in a fraction of a second."""
import copy


def ball(**changes):
    scene = {
        "geometry": [
            {"name": "ball", "generator": {"type": "disk", "radius": 0.05, "divisions": 2}, "transformation": {"translation": [0, 0.0515]}},
            {"name": "floor", "type": "plane", "is_obstacle": True, "point": [0, 0], "normal": [0, 1]},
        ],
        "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 1000, "plane": "strain"},
        "gravity": [0, -9.81],
        "initial_conditions": {"velocity": [{"body": "ball", "value": [0.5, -1]}]},
        "contact": {"enabled": True, "dhat": 0.002, "friction_coefficient": 0.2, "epsv": 0.01},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-14}, "contact": {"barrier_stiffness": 1e8}},
        "time": {"dt": 0.002, "time_steps": 6},
    }
    scene.update(copy.deepcopy(changes))
    return scene


def study(scene=None, **changes):
    """Stiffness, friction and velocity of the ball from its path: a sum of squares."""
    result = {
        "experiments": [{"name": "throw", "scene": scene or ball()}],
        "parameters": [
            {"name": "E", "quantity": "young_modulus", "body": "ball", "initial": 0.9e5, "bounds": [2e4, 1e6], "scale": "log",
             "prior": {"mean": 1e5, "sd": 3e4}},
            {"name": "friction", "quantity": "friction", "bodies": ["ball", "floor"], "initial": 0.25, "bounds": [0, 1]},
            {"name": "velocity", "quantity": "initial_velocity", "body": "ball", "initial": [0.45, -1]},
        ],
        "objectives": [{"name": "path", "type": "center_of_mass", "body": "ball", "target": "path.csv", "time": {"times": "data"}}],
    }
    result.update(copy.deepcopy(changes))
    return result


PATH = "time,x,y,sd\n0.004,0.0021,0.0478,1e-4\n0.008,0.0039,0.0472,1e-4\n0.012,0.0055,0.0483,1e-4\n"
