"""A layer of PyTorch that holds a simulation with contact: a network learns the friction of plates from their roughness by sliding a block
over them. The layer's derivative is recoil's adjoint.

    python3 learn_friction.py            # needs torch; ends with 77 where there is none
"""
import os
import sys
import tempfile

import recoil

try:
    import torch
except ImportError:
    print("learn_friction: skipped, torch is not installed (Debian: apt-get install python3-torch)")
    sys.exit(77)

ROUGHNESS = [0.2, 0.5, 0.9]  # of the plates, as a profilometer says [um]


def true_friction(roughness):
    """What the network does not know."""
    return 0.1 + 0.35 * roughness


def slide(friction):
    """A soft block that is thrown along a plate."""
    return {
        "geometry": [
            {"name": "block", "generator": {"type": "rectangle", "size": [0.06, 0.03], "divisions": [2, 1]}, "transformation": {"translation": [0, 0.0155]}},
            {"name": "plate", "type": "plane", "is_obstacle": True, "point": [0, 0], "normal": [0, 1]},
        ],
        "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000, "plane": "strain"},
        "gravity": [0, -9.81],
        "initial_conditions": {"velocity": [{"body": "block", "value": [0.5, 0]}]},
        "contact": {"enabled": True, "dhat": 0.001, "friction_coefficient": friction, "epsv": 0.01},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-10, "rel_grad_norm_tol": 1e-12}, "contact": {"barrier_stiffness": 1e6}},
        "time": {"dt": 0.005, "time_steps": 10},
    }


def study(targets):
    """Where the block of each plate is at the end, against where it was seen."""
    return {
        "experiments": [{"name": f"plate{k}", "scene": slide(0.3)} for k in range(len(ROUGHNESS))],
        "parameters": [{"name": f"friction{k}", "quantity": "friction", "bodies": ["block", "plate"], "experiment": f"plate{k}", "initial": 0.3,
                        "bounds": [0, 1]} for k in range(len(ROUGHNESS))],
        "objectives": [{"name": f"path{k}", "type": "center_of_mass", "body": "block", "experiment": f"plate{k}", "target": target,
                        "time": {"times": "data"}}
                       for k, target in enumerate(targets)],
    }


class Objective(torch.autograd.Function):
    """J(x) of a study as an operation of torch: forward runs the scenes, backward sweeps through the runs."""

    @staticmethod
    def forward(context, x, objective):
        context.save_for_backward(x)
        context.objective = objective
        return x.new_tensor(objective.value(x.detach().numpy()))

    @staticmethod
    def backward(context, of_loss):
        x, = context.saved_tensors
        return of_loss * torch.from_numpy(context.objective.gradient(x.detach().numpy())), None


def observe():
    """Files of what a camera would see, which another run plays here."""
    files = []
    for k, roughness in enumerate(ROUGHNESS):
        run = recoil.simulate(slide(true_friction(roughness)))
        at, rest = run.trajectory, run.trajectory.coordinates
        with open(f"plate{k}.csv", "w") as file:
            file.write("time,x,y,sd\n")
            for time, u in zip(at.times[5::5], at.u[5::5]):
                # Of a regular mesh with equal cells, the centre of mass is the mean over the corners of its cells.
                cells = run.mesh.cells["Triangle"]
                x, y = (rest + u)[cells].mean(axis=(0, 1))
                file.write(f"{time:.6g},{x:.9g},{y:.9g},1e-4\n")
        files.append(f"plate{k}.csv")
    return files


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    roughness = torch.tensor(ROUGHNESS).reshape(-1, 1)
    network = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1), torch.nn.Sigmoid())
    with recoil.ReducedObjective(study(observe())) as objective:
        x = torch.tensor([0.15, 0.3, 0.5], requires_grad=True)
        assert torch.autograd.gradcheck(lambda at: 1e-3 * Objective.apply(at, objective), x, eps=1e-5, atol=1e-3, rtol=1e-3)
        optimizer = torch.optim.LBFGS(network.parameters(), max_iter=60, line_search_fn="strong_wolfe")

        def loss():
            optimizer.zero_grad()
            value = 1e-3 * Objective.apply(network(roughness).ravel(), objective)
            value.backward()
            return value

        before = loss().item()
        optimizer.step(loss)
        after = loss().item()
    print(f"loss: {before:.4g} before, {after:.4g} after")
    worst = 0.0
    for given, found in zip(ROUGHNESS, network(roughness).ravel().tolist()):
        print(f"roughness {given}: friction {found:.4f}, true {true_friction(given):.4f}")
        worst = max(worst, abs(found - true_friction(given)))
    assert worst < 0.01, worst


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
