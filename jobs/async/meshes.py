"""Writes the meshes of the scenes of this folder: ribbons, prisms, a sphere, cloths, spikes. OBJ, metres."""
import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


class Obj:
    def __init__(self):
        self.points, self.faces = [], []

    def add(self, points, faces):
        first = len(self.points)
        self.points += points
        self.faces += [tuple(first + i for i in face) for face in faces]
        return self

    def write(self, name):
        lines = ["v %.9g %.9g %.9g" % tuple(p) for p in self.points] + ["f %d %d %d" % tuple(i + 1 for i in f) for f in self.faces]
        (FOLDER / name).write_text("\n".join(lines) + "\n")


def grid(nx, ny, at):
    """Points at(s, t) of the unit square, cells cut alternately."""
    points = [at(i / nx, j / ny) for j in range(ny + 1) for i in range(nx + 1)]
    number = lambda i, j: i + j * (nx + 1)
    faces = []
    for j in range(ny):
        for i in range(nx):
            a, b, c, d = number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)
            faces += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return points, faces


def cloth(size, cells, height, waves=0.0):
    return grid(cells, cells, lambda s, t: (size * (s - 0.5), size * (t - 0.5), height + waves * math.sin(11 * s + 5 * t)))


def icosphere(radius, centre, cuts):
    g = (1 + 5 ** 0.5) / 2
    points = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
             (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(cuts):
        middles, cut = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                points.append(tuple((points[a][k] + points[b][k]) / 2 for k in range(3)))
                middles[key] = len(points) - 1
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            cut += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = cut
    length = lambda p: math.sqrt(sum(x * x for x in p))
    return [tuple(centre[k] + radius * p[k] / length(p) for k in range(3)) for p in points], faces


def prism(width, height, length, offset, parts):
    """A roof along y without bottom: cross section an isosceles triangle on the ground, `parts` cells along each side."""
    def at(s, t):
        u = abs(2 * s - 1)
        return (offset + width * (s - 0.5), length * (t - 0.5), height * (1 - u))

    return grid(2 * parts, 2 * parts, at)


def plate(radius, rings):
    """A disc in the plane z = 0, 6 k vertices on ring k."""
    points, start = [(0.0, 0.0, 0.0)], [0]
    for k in range(1, rings + 1):
        start.append(len(points))
        points += [(radius * k / rings * math.cos(2 * math.pi * i / (6 * k)), radius * k / rings * math.sin(2 * math.pi * i / (6 * k)), 0.0) for i in range(6 * k)]
    faces = []
    for k in range(1, rings + 1):
        outer, inner = 6 * k, 6 * (k - 1)
        for side in range(6):
            for i in range(k):
                o, o2 = start[k] + (side * k + i) % outer, start[k] + (side * k + i + 1) % outer
                n = start[k - 1] + ((side * (k - 1) + i) % inner if inner else 0)
                faces.append((n, o, o2))
                if i < k - 1:
                    faces.append((n, o2, start[k - 1] + (side * (k - 1) + i + 1) % inner))
    return points, faces


def resampled(path, count):
    """`count` + 1 points at equal distances along the path of dense points."""
    ways = [0.0]
    for p, q in zip(path, path[1:]):
        ways.append(ways[-1] + math.dist(p, q))
    points, k = [], 0
    for i in range(count + 1):
        way = ways[-1] * i / count
        while k + 2 < len(ways) and ways[k + 1] < way:
            k += 1
        f = (way - ways[k]) / (ways[k + 1] - ways[k])
        points.append(tuple(p + f * (q - p) for p, q in zip(path[k], path[k + 1])))
    return points


def ribbon(path, width, cells, across):
    """A strip along a path, wide in the direction of the xy plane across it."""
    points = resampled(path, cells)

    def at(s, t):
        k = round(s * cells)
        before, after = points[max(k - 1, 0)], points[min(k + 1, cells)]
        x, y = after[0] - before[0], after[1] - before[1]
        length = math.hypot(x, y)
        p = points[k]
        return (p[0] - width * (t - 0.5) * y / length, p[1] + width * (t - 0.5) * x / length, p[2])

    return grid(cells, across, at)


def reef_strand(side):
    """One strand of a loose reef knot, from one of its ends around its bight to the other end [m]. Its legs pass over the bight of
    the other strand (the same turned by pi about y, for side -1), under its legs in the middle, and its bight lies over these legs."""
    end, bight, spread, height = 0.1, 0.03, 0.013, 0.005
    leg = []
    for i in range(401):
        x = -end + (end + bight) * i / 400
        y = spread * (1 + 0.45 * max(-1.0, min(1.0, x / bight)) * (1.5 - 0.5 * min(1.0, (x / bight) ** 2)))
        z = -height * math.cos(math.pi * max(-1.0, x / bight))
        leg.append((x, y, z))
    last = leg[-1][1]
    turn = [(bight + last * math.sin(a), last * math.cos(a), height) for a in (math.pi * i / 100 for i in range(1, 100))]
    path = leg + turn + [(x, -y, z) for x, y, z in reversed(leg)]
    return [(side * x, y, side * z) for x, y, z in path]


def bowline_path(unit):
    """A loose bowline [m] of `unit` times the numbers here, in the plane of its diagram with heights that keep crossings apart. The
    strand comes down (standing part), makes a turn over itself (the hole), goes round (0, -9) (the loop), comes up through the hole from
    below, behind the standing part, and down through the hole again."""
    turn = lambda angle, radius, x=0.0, y=0.0: (x + radius * math.cos(angle), y + radius * math.sin(angle))
    way = [(2.2, 12.0, 0.0), (2.2, 6.0, 0.0), (2.2, 4.4, 0.0), (2.2, 2.6, 0.0), (2.2, 1.0, -0.35)]
    # Clockwise from the right side of the hole down, round and over the standing part.
    for k in range(1, 13):
        angle = -k * math.pi / 6
        height = -0.35 + 1.05 * k / 12
        way.append((*turn(angle, 2.2 + 0.35 * k / 12), 0.0 if 2 <= k <= 10 else height))
    way[-1] = (2.9, 0.9, 0.7)
    way += [(3.4, -0.6, 0.5), (3.5, -3.0, 0.0), (3.6, -6.0, 0.0)]
    for k in range(0, 13):
        angle = -k * math.pi / 12
        way.append((*turn(angle, 3.6, 0.0, -9.0), 0.0))
    way += [(-3.3, -6.0, 0.0), (-2.0, -4.2, -0.3), (-0.8, -2.8, -0.7), (-0.7, -1.4, -0.7), (-0.7, 0.0, 0.0), (-0.7, 1.6, 0.7), (-0.7, 3.0, 0.7),
            (-0.3, 4.6, 0.0), (0.8, 5.7, -0.7), (2.2, 5.9, -0.7), (3.5, 5.6, -0.3), (4.0, 4.8, 0.0), (3.5, 4.0, 0.5), (2.2, 3.6, 0.7), (1.1, 3.0, 0.7), (0.7, 1.8, 0.7),
            (0.7, 0.0, 0.0), (0.7, -1.6, -0.7), (0.8, -3.0, -0.7), (1.0, -4.4, -0.3)]
    return [tuple(unit * c for c in p) for p in spline(way, 12)]


def spline(points, parts):
    """Catmull-Rom's curve through the points."""
    ends = [points[0]] + points + [points[-1]]
    curve = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:]):
        for i in range(parts):
            t = i / parts
            curve.append(tuple(0.5 * (2 * q + t * (r - p) + t * t * (2 * p - 5 * q + 4 * r - s) + t ** 3 * (3 * q - p - 3 * r + s))
                               for p, q, r, s in zip(a, b, c, d)))
    return curve + [points[-1]]


def tube(radius, height, centre, around, along):
    points = [(centre[0] + radius * math.cos(2 * math.pi * (i + 0.5 * (j % 2)) / around), centre[1] + radius * math.sin(2 * math.pi * (i + 0.5 * (j % 2)) / around),
               centre[2] + height * (j / along - 0.5)) for j in range(along + 1) for i in range(around)]
    faces = []
    for j in range(along):
        for i in range(around):
            a, b = i + j * around, (i + 1) % around + j * around
            c, d = a + around, b + around
            faces += [(a, b, c), (b, d, c)] if j % 2 == 0 else [(a, b, d), (a, d, c)]
    return points, faces


def spike(base, radius, height, sides=3):
    points = [(base[0] + radius * math.cos(2 * math.pi * i / sides), base[1] + radius * math.sin(2 * math.pi * i / sides), base[2]) for i in range(sides)]
    return points + [(base[0], base[1], base[2] + height)], [(i, (i + 1) % sides, sides) for i in range(sides)]


def discs(count, size, radius):
    rows = math.isqrt(count)
    lines = ["x,y,z,radius"]
    for i in range(count):
        lines.append("%.9g,%.9g,0,%.9g" % ((i % rows + 0.5) * size / rows, (i // rows + 0.5) * size / rows, radius))
    (FOLDER / "discs.csv").write_text("\n".join(lines) + "\n")


def main():
    discs(900, 3.0, 0.01)
    Obj().add(*icosphere(0.125, (0, 0, 0.127), 2)).write("ball.obj")
    Obj().add(*plate(0.35, 12)).write("plate.obj")
    Obj().add(*icosphere(0.0497, (0, 0, 0.2084), 2)).write("sphere.obj")
    for name, offset in (("left_prism.obj", -0.0646), ("right_prism.obj", 0.0646)):
        Obj().add(*prism(0.1292 * 0.98, 0.2005, 0.3841, offset, 4)).write(name)
    Obj().add(*cloth(0.2, 16, 0.085, 0.002)).write("cloth.obj")
    Obj().add(*cloth(0.14, 14, 0.05, 0.002)).write("lower_cloth.obj")
    Obj().add(*cloth(0.14, 14, 0.058, 0.002)).write("upper_cloth.obj")
    Obj().add(*cloth(0.2, 16, 0.0)).write("block_cloth.obj")
    Obj().add(*ribbon(bowline_path(0.005), 0.003, 160, 2)).write("bowline_strand.obj")
    Obj().add(*tube(0.01, 0.03, (0, -0.045, 0), 24, 12)).write("tube.obj")
    Obj().add(*cloth(0.14, 17, 0.05, 0.002)).write("lower_cloth_fine.obj")
    Obj().add(*cloth(0.14, 17, 0.058, 0.002)).write("upper_cloth_fine.obj")
    for name, side in (("left_strand", 1), ("right_strand", -1)):
        Obj().add(*ribbon(reef_strand(side), 0.006, 90, 2)).write(name + ".obj")
        Obj().add(*ribbon(reef_strand(side), 0.006, 150, 3)).write(name + "_fine.obj")
    spikes = Obj()
    for x in (-0.04, 0.0, 0.04):
        for y in (-0.04, 0.0, 0.04):
            spikes.add(*spike((x + 0.003, y - 0.002, 0), 0.006, 0.04))
    spikes.write("spikes.obj")


if __name__ == "__main__":
    main()
