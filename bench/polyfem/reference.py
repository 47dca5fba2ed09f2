"""PolyFEM's step energy on small meshes, minimised by Newton's method with complex-step Hessians: a second opinion that shares no
code with recoil. It knows what the scenes of jobs/polyfem hold: Neo-Hookean bodies of order 1 or 2, PolyFEM's damping, BDF1 and BDF2,
pressures, values at nodes, and vertices over the line y = 0 by the plain or the convergent barrier, with lagged friction."""
import itertools
import json
import math
import os

import numpy as np


def read_obj(path):
    rows = [line.split() for line in open(path)]
    return (np.array([[float(x) for x in row[1:]] for row in rows if row and row[0] == "v"]),
            np.array([[int(i) - 1 for i in row[1:]] for row in rows if row and row[0] == "f"], int).reshape(-1, 3))


def read_msh(path):
    """Gmsh 2.2, ASCII, tetrahedra."""
    lines = [line.split() for line in open(path)]
    nodes, elements = lines.index(["$Nodes"]), lines.index(["$Elements"])
    vertices = [[float(x) for x in row[1:]] for row in lines[nodes + 2:nodes + 2 + int(lines[nodes + 1][0])]]
    cells = [[int(i) - 1 for i in row[-4:]] for row in lines[elements + 2:elements + 2 + int(lines[elements + 1][0])]]
    return np.array(vertices), np.array(cells)


def quadrature(dim, degree):
    """Barycentric points and weights that sum to 1."""
    if degree == 1:
        orbits = [(1, (1 / (dim + 1),) * (dim + 1))]
    elif dim == 2 and degree == 2:
        orbits = [(1 / 3, (1 / 6, 1 / 6, 2 / 3))]
    elif dim == 2 and degree == 5:  # Radon
        r = math.sqrt(15)
        a, b = (6 - r) / 21, (6 + r) / 21
        orbits = [(9 / 40, (1 / 3,) * 3), ((155 - r) / 1200, (a, a, 1 - 2 * a)), ((155 + r) / 1200, (b, b, 1 - 2 * b))]
    elif dim == 3 and degree == 2:
        a = (5 - math.sqrt(5)) / 20
        orbits = [(1 / 4, (a, a, a, 1 - 3 * a))]
    elif dim == 3 and degree == 5:  # Walkington
        a, b, c = 0.31088591926330060980, 0.092735250310891226402, 0.045503704125649649492
        orbits = [(0.11268792571801585080, (a, a, a, 1 - 3 * a)), (0.073493043116361949544, (b, b, b, 1 - 3 * b)),
                  (0.042546020777081466438, (c, c, 0.5 - c, 0.5 - c))]
    else:  # Stroud's conical product
        one, weight = np.polynomial.legendre.leggauss(degree // 2 + 2)
        one, weight = (one + 1) / 2, weight / 2
        points, weights = [], []
        for index in itertools.product(range(len(one)), repeat=dim):
            rest, w, point = 1.0, math.factorial(dim), []
            for axis, i in enumerate(index):
                point.append(rest * one[i])
                w *= weight[i] * (1 - one[i]) ** (dim - 1 - axis)
                rest -= point[-1]
            points.append([rest] + point)
            weights.append(w)
        return np.array(points), np.array(weights)
    points, weights = [], []
    for weight, point in orbits:
        for p in sorted(set(itertools.permutations(point))):
            points.append(p)
            weights.append(weight)
    return np.array(points), np.array(weights)


def basis(order, points):
    """Values [q, a] and derivatives by barycentric coordinates [q, a, k]; edge nodes after the vertices, in lexicographic order."""
    n = points.shape[1]
    if order == 1:
        return points, np.broadcast_to(np.eye(n), (len(points), n, n))
    values, derivatives = [], []
    for a in range(n):
        values.append(points[:, a] * (2 * points[:, a] - 1))
        d = np.zeros_like(points)
        d[:, a] = 4 * points[:, a] - 1
        derivatives.append(d)
    for a, b in itertools.combinations(range(n), 2):
        values.append(4 * points[:, a] * points[:, b])
        d = np.zeros_like(points)
        d[:, a], d[:, b] = 4 * points[:, b], 4 * points[:, a]
        derivatives.append(d)
    return np.stack(values, 1), np.stack(derivatives, 1)


class Space:
    """Lagrange functions of order 1 or 2: vertices first, then the edges."""

    def __init__(self, vertices, cells, order):
        self.vertices, self.order, self.dim = vertices, order, vertices.shape[1]
        self.edges = {}
        self.cells = np.array([self.nodes_of(cell, order) for cell in cells])
        ends = np.array(sorted(self.edges, key=self.edges.get), int).reshape(-1, 2)
        self.positions = np.vstack([vertices, vertices[ends].mean(1)]) if order == 2 else vertices
        self.corners = vertices[cells]
        self.measure = np.abs(np.linalg.det(self.corners[:, 1:] - self.corners[:, :1])) / math.factorial(self.dim)
        # Gradients of the barycentric coordinates.
        inverse = np.linalg.inv(self.corners[:, 1:] - self.corners[:, :1])
        self.gradients = np.concatenate([-inverse.sum(2, keepdims=True), inverse], 2).transpose(0, 2, 1)
        self.facets = self.boundary(cells)

    def nodes_of(self, simplex, order):
        pairs = [tuple(sorted(pair)) for pair in itertools.combinations(simplex, 2)] if order == 2 else []
        return list(simplex) + [len(self.vertices) + self.edges.setdefault(pair, len(self.edges)) for pair in pairs]

    def boundary(self, cells):
        """Facets of one cell, with outward orientation."""
        seen = {}
        for cell in cells:
            for k in range(self.dim + 1):
                facet = tuple(np.delete(cell, k))
                seen.setdefault(tuple(sorted(facet)), []).append((facet, cell[k]))
        facets = []
        for found in seen.values():
            if len(found) > 1:
                continue
            (facet, inside), = found
            x = self.vertices[list(facet)]
            if normal(x) @ (x[0] - self.vertices[inside]) < 0:
                facet = facet[1::-1] + facet[2:]
            facets.append(facet)
        return facets


def normal(x):
    """Normal of a facet times its measure (3D: twice that)."""
    if len(x) == 2:
        return np.array([x[1, 1] - x[0, 1], x[0, 0] - x[1, 0]])
    return np.cross(x[1] - x[0], x[2] - x[0])


def log_barrier(y, limit):
    """b and b' at y < limit, zero beyond; complex y for derivatives."""
    inside = y.real < limit
    safe = np.where(inside, y, limit)
    b, slope = -(safe - limit) ** 2 * np.log(safe / limit), (limit - safe) * (2 * np.log(safe / limit) - limit / safe + 1)
    return np.where(inside, b, 0), np.where(inside, slope, 0)


class Scene:
    """A scene of jobs/polyfem with PolyFEM's formulas."""

    def __init__(self, path, integrator_friction=True):
        with open(path) as file:
            self.scene = scene = json.load(file)
        self.integrator_friction = integrator_friction
        folder = os.path.dirname(path)
        body = scene["geometry"][0]
        read = read_msh if body["mesh"].endswith(".msh") else read_obj
        vertices, cells = read(os.path.join(folder, body["mesh"]))
        self.dim = dim = cells.shape[1] - 1
        vertices = vertices[:, :dim] + np.array(body.get("transformation", {}).get("translation", [0] * dim), float)
        advanced = scene["space"].get("advanced", {})
        self.space = space = Space(vertices, cells, scene["space"].get("discr_order", 1))
        degree = advanced.get("quadrature_order", max(2 * (space.order - 1), 1))
        points, weights = quadrature(dim, degree)
        values, derivatives = basis(space.order, points)
        self.G = np.einsum("qak,cki->cqai", derivatives, space.gradients)
        self.w = space.measure[:, None] * weights
        material = scene["materials"]
        E, nu = material["E"], material["nu"]
        self.mu, self.lam = E / (2 * (1 + nu)), E * nu / (1 - nu**2) if dim == 2 else E * nu / ((1 + nu) * (1 - 2 * nu))
        self.psi, self.phi = material.get("psi", 0), material.get("phi", 0)
        self.build_mass(material.get("rho", 1))
        self.ids = self.facet_ids(body.get("surface_selection", []))
        self.conditions = scene["boundary_conditions"]
        self.folder = folder
        self.time = scene.get("time")
        if self.time:
            self.h = self.time.get("dt") or self.time["tend"] / self.time["time_steps"]
            self.steps = self.time.get("time_steps") or math.ceil(self.time["tend"] / self.time["dt"])
        self.build_contact()
        self.force = -self.mass_times(np.broadcast_to(np.array(self.conditions.get("rhs", [0] * dim), float), space.positions.shape))

    def build_mass(self, rho):
        points, weights = quadrature(self.dim, 2 * self.space.order + 3)
        values, _ = basis(self.space.order, points)
        of_cell = np.einsum("q,qa,qb->ab", weights, values, values)
        n = len(self.space.positions)
        self.M = np.zeros((n, n))
        for cell, nodes in enumerate(self.space.cells):
            self.M[np.ix_(nodes, nodes)] += rho * self.space.measure[cell] * of_cell

    def mass_times(self, field):
        return self.M @ field

    def facet_ids(self, selections):
        """The id of every boundary facet, by the half-spaces that scenes name."""
        ids = []
        for facet in self.space.facets:
            centre = self.space.vertices[list(facet)].mean(0)
            found = 0
            for entry in selections if isinstance(selections, list) else [{"id": selections}]:
                if "axis" in entry:
                    sign, axis = (-1 if entry["axis"][0] == "-" else 1), "xyz".index(entry["axis"][-1])
                    if sign * (centre[axis] - entry["position"]) < 0:
                        continue
                found = entry["id"]
                break
            ids.append(found)
        return ids

    def value_at(self, value, entry, t):
        if not isinstance(value, list):
            return value
        times = [round(x * 1000) for x in entry["time_reference"]]
        return value[times.index(round(t * 1000))]

    def prescribed(self, t):
        """Displacement of every node, NaN where it is free."""
        u = np.full(self.space.positions.shape, np.nan)
        for entry in self.conditions.get("dirichlet_boundary", []):
            if isinstance(entry, str):
                continue
            for facet, found in zip(self.space.facets, self.ids):
                if found == entry["id"]:
                    u[self.space.nodes_of(facet, self.space.order)] = [self.value_at(v, entry, t) for v in entry["value"]]
        for entry in self.conditions.get("dirichlet_boundary", []):
            if isinstance(entry, str):
                rows = np.loadtxt(os.path.join(self.folder, entry), ndmin=2)
                for row in rows:
                    given = ~np.isnan(row[1:])
                    u[int(row[0]), given] = row[1:][given]
        return u

    def build_contact(self):
        contact = self.scene.get("contact", {})
        self.K = None
        if not contact.get("enabled"):
            return
        self.dhat, self.friction, self.epsv = contact["dhat"], contact.get("friction_coefficient", 0), contact.get("epsv", 1e-3)
        area = np.zeros(len(self.space.positions))
        for a, b in self.space.facets:
            area[[a, b]] += np.linalg.norm(self.space.positions[a] - self.space.positions[b]) / 2
        self.K = self.scene["solver"]["contact"]["barrier_stiffness"]
        self.contact_weight = (area > 0).astype(float)
        if contact.get("use_convergent_formulation"):
            self.contact_weight = area / 2 * self.dhat / self.dhat**4
        self.surface = np.flatnonzero(area)

    def height(self, u):
        return self.space.positions[self.surface, 1] + u[self.surface, 1]

    def F(self, u):
        return np.eye(self.dim) + np.einsum("cai,cqaj->cqij", u[self.space.cells], self.G)

    def scatter(self, P):
        g = np.zeros((len(self.space.positions), self.dim), P.dtype)
        np.add.at(g, self.space.cells, np.einsum("cq,cqij,cqaj->cai", self.w, P, self.G))
        return g

    def strain_rate(self, F):
        rate = np.swapaxes(F - self.F_previous, -1, -2) @ F / self.h
        return (rate + np.swapaxes(rate, -1, -2)) / 2

    def energy(self, u):
        """Everything with an energy that the scenes have; pressure is not among it."""
        F = self.F(u)
        J = np.linalg.det(F)
        W = self.mu / 2 * ((F * F).sum((2, 3)) - self.dim - 2 * np.log(J)) + self.lam / 2 * np.log(J) ** 2
        if self.psi:
            D = self.strain_rate(F)
            W = W + self.psi * (D * D).sum((2, 3)) + self.phi / 2 * np.trace(D, axis1=2, axis2=3) ** 2
        total = self.s * ((self.w * W).sum() - (self.force * u).sum())
        if self.time:
            total = total + 0.5 * ((u - self.u_tilde) * self.mass_times(u - self.u_tilde)).sum()
        if self.K:
            b, _ = log_barrier(self.height(u) ** 2, self.dhat**2)
            total = total + self.s * self.K * (self.contact_weight[self.surface] * b).sum()
            if self.friction:
                total = total + self.s * self.rate * (self.normal_force * self.smoothed(self.speed(u))[0]).sum()
        return total

    def speed(self, u):
        return (u[self.surface, 0] - self.slide_start) / self.rate

    def smoothed(self, v):
        """f0 and f1 times the sign of v."""
        size = np.where(v.real < 0, -v, v) / self.epsv
        sticks = size.real < 1
        f0 = np.where(sticks, self.epsv * (size**2 - size**3 / 3 + 1 / 3), self.epsv * size)
        f1 = np.where(sticks, size * (2 - size), 1)
        return f0, np.where(v.real < 0, -f1, f1)

    def gradient(self, u):
        F = self.F(u)
        inverse = np.swapaxes(np.linalg.inv(F), -1, -2)
        J = np.linalg.det(F)
        P = self.mu * (F - inverse) + self.lam * np.log(J)[..., None, None] * inverse
        if self.psi:
            D = self.strain_rate(F)
            S = 2 * self.psi * D + self.phi * np.trace(D, axis1=2, axis2=3)[..., None, None] * np.eye(self.dim)
            P = P + (2 * F - self.F_previous) / self.h @ S
        g = self.s * (self.scatter(P) - self.force - self.pressure_force(u))
        if self.time:
            g = g + self.mass_times(u - self.u_tilde)
        if self.K:
            y = self.height(u)
            _, slope = log_barrier(y**2, self.dhat**2)
            g[self.surface, 1] += self.s * self.K * self.contact_weight[self.surface] * slope * 2 * y
            if self.friction:
                g[self.surface, 0] += self.s * self.normal_force * self.smoothed(self.speed(u))[1]
        return g

    def pressure_force(self, u):
        force = np.zeros(u.shape, u.dtype)
        points, weights = quadrature(self.dim - 1, 4 * self.space.order)
        values, derivatives = basis(self.space.order, points)
        x = self.space.positions + u
        for entry in self.conditions.get("pressure_boundary", []):
            p = self.value_at(entry["value"], entry, self.t)
            for facet, found in zip(self.space.facets, self.ids):
                if found != entry["id"]:
                    continue
                nodes = self.space.nodes_of(facet, self.space.order)
                tangents = [np.einsum("qa,ai->qi", derivatives[:, :, k] - derivatives[:, :, 0], x[nodes]) for k in range(1, self.dim)]
                if self.dim == 2:
                    area = np.stack([tangents[0][:, 1], -tangents[0][:, 0]], 1)
                else:
                    area = np.cross(*tangents) / 2
                force[nodes] += p * np.einsum("q,qa,qi->ai", weights, values, area)
        return force

    def feasible(self, u):
        return (np.linalg.det(self.F(u)) > 0).all() and (not self.K or (self.height(u) > 0).all())

    def hessian(self, u, free):
        step = 1e-30
        columns = []
        for k in np.flatnonzero(free):
            trial = u.astype(complex)
            trial.ravel()[k] += 1j * step
            columns.append(self.gradient(trial).imag.ravel()[free] / step)
        return np.array(columns).T

    def check_gradient(self, u, free, scale):
        """The gradient against the energy, where pressure has no part in it, to digits of the largest in the solve."""
        if self.conditions.get("pressure_boundary"):
            return
        g = self.gradient(u).ravel()
        for k in np.flatnonzero(free)[::5]:
            trial = u.astype(complex)
            trial.ravel()[k] += 1e-30j
            if abs(self.energy(trial).imag / 1e-30 - g[k]) > 1e-9 * scale:
                raise SystemExit("the reference contradicts itself at unknown %d" % k)

    def minimise(self, start, t):
        given = self.prescribed(t)
        free = np.isnan(given).ravel()
        u = np.where(np.isnan(given), start, given)
        if not self.feasible(u):
            raise SystemExit("the prescribed motion is too large for the reference")
        largest = 0
        for iteration in range(200):
            g = self.gradient(u).ravel()[free]
            largest = max(largest, np.abs(g).max())
            H = self.hessian(u, free)
            lowest = np.linalg.eigvalsh((H + H.T) / 2)[0]
            if lowest < 0:
                H = H + (1e-3 * np.abs(H).max() - lowest) * np.eye(len(H))
            d = np.zeros(u.size)
            d[free] = np.linalg.solve(H, -g)
            d = d.reshape(u.shape)
            step, has_energy = 1.0, not self.conditions.get("pressure_boundary")
            while not self.feasible(u + step * d):
                step /= 2
            before = self.energy(u)
            # The last digits of the energy say nothing, those of the gradient do.
            while has_energy and step > 1e-9 and self.energy(u + step * d) >= before and \
                    np.abs(self.gradient(u + step * d).ravel()[free]).max() > np.abs(g).max():
                step /= 2
            u = u + step * d
            if np.abs(d).max() < 1e-13 * max(1, np.abs(self.space.positions).max()) or np.abs(g).max() < 1e-15 * largest:
                self.check_gradient(u, free, largest)
                return u
        raise SystemExit("the reference does not converge")

    def bdf_order(self):
        integrator = (self.time or {}).get("integrator", "ImplicitEuler")
        return integrator["steps"] if isinstance(integrator, dict) else 1

    def has_other_friction(self):
        """Whether recoil's friction, of the displacement over the step, is another than PolyFEM's."""
        return bool(self.K and self.friction) and self.bdf_order() > 1

    def run(self):
        """Displacement after the last step."""
        u = np.zeros(self.space.positions.shape)
        if not self.time:
            self.s, self.t = 1, 1
            return self.minimise(u, 1)
        v = np.zeros(u.shape)
        for entry in self.scene.get("initial_conditions", {}).get("velocity", []):
            v[:] = entry["value"]
        most = self.bdf_order()
        past = [(u, v)]
        for n in range(1, self.steps + 1):
            a, b = {1: ([1], 1), 2: ([4 / 3, -1 / 3], 2 / 3)}[min(n, most)]
            bar = [sum(c * state[k] for c, state in zip(a, past)) for k in (0, 1)]
            self.u_tilde, self.s, self.t = bar[0] + b * self.h * bar[1], (b * self.h) ** 2, n * self.h
            u = past[0][0]
            self.F_previous = self.F(u)
            if self.K and self.friction:
                y = self.height(u)
                _, slope = log_barrier(y**2, self.dhat**2)
                self.normal_force = -self.friction * self.K * self.contact_weight[self.surface] * slope * 2 * y
                # The velocity of the integrator in PolyFEM, the displacement over the step in recoil.
                self.slide_start, self.rate = (bar[0][self.surface, 0], b * self.h) if self.integrator_friction else (u[self.surface, 0], self.h)
            new = self.minimise(u, self.t)
            past = [(new, (new - bar[0]) / (b * self.h))] + past[:most - 1]
        return past[0][0]
