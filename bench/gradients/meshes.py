"""Triangle meshes of grids from which cells are left out, as Gmsh files."""


def grid(columns, rows, filled, moved=lambda x, y: (x, y)):
    """Vertices and triangles of the cells (i, j) between the lines x = columns[i], columns[i + 1] and y = rows[j], rows[j + 1]
    for which filled(i, j) holds, with every vertex moved. Diagonals change direction from cell to cell."""
    number, triangles = {}, []
    for j in range(len(rows) - 1):
        for i in range(len(columns) - 1):
            if not filled(i, j):
                continue
            a, b, c, d = (number.setdefault(corner, len(number)) for corner in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
            triangles += [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
    return [moved(columns[i], rows[j]) for i, j in number], triangles


def write_gmsh(path, vertices, triangles):
    """Gmsh 2.2, ASCII, volume id 1."""
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(vertices))
        file.writelines("%d %.17g %.17g 0\n" % (k + 1, x, y) for k, (x, y) in enumerate(vertices))
        file.write("$EndNodes\n$Elements\n%d\n" % len(triangles))
        file.writelines("%d 2 2 1 1 %d %d %d\n" % (k + 1, a + 1, b + 1, c + 1) for k, (a, b, c) in enumerate(triangles))
        file.write("$EndElements\n")
