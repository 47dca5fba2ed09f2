"""A small software renderer: orthographic z-buffer, smooth shading, soft shadow, ambient occlusion. VTK's Debian package
needs an X server even off screen; this needs nothing and gives the same picture everywhere."""

from dataclasses import dataclass

import numpy as np

CANDIDATES = 100_000  # pixels tested at a time: as many as stay in the cache


@dataclass
class Camera:
    """Orthographic. Rows of `axes`: right, up, towards the viewer. A world point p falls on the pixel
    scale * (axes[:2] @ p - corner), depth axes[2] @ p."""

    axes: np.ndarray
    corner: np.ndarray
    scale: float
    width: int
    height: int

    def project(self, points):
        """Pixel x, pixel y (downwards) and depth (towards the viewer, in pixels)."""
        p = points @ self.axes.T
        x = (p[:, 0] - self.corner[0]) * self.scale
        y = self.height - (p[:, 1] - self.corner[1]) * self.scale
        return np.stack([x, y, p[:, 2] * self.scale], 1)


def view_axes(azimuth_deg, elevation_deg, up):
    """Rotation whose third row points to the viewer; `up` is the vertical axis, 1 or 2 (y or z)."""
    a, e = np.radians([azimuth_deg, elevation_deg])
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.stack([right, np.cross(towards, right), towards])
    # Built for z up; with y up, (x, y, z) plays the part of (x, -z, y).
    return axes if up == 2 else axes[:, [0, 2, 1]] * np.array([1, 1, -1])


def fit(axes, clouds, width, height, margin=0.06):
    """The camera that shows all points of all clouds."""
    low = np.min([(cloud @ axes[:2].T).min(0) for cloud in clouds], axis=0)
    high = np.max([(cloud @ axes[:2].T).max(0) for cloud in clouds], axis=0)
    extent = np.maximum(high - low, 1e-12 * max(1.0, np.abs(high).max()))
    scale = (1 - 2 * margin) * min(width / extent[0], height / extent[1])
    corner = (low + high) / 2 - np.array([width, height]) / (2 * scale)
    return Camera(axes, corner, scale, width, height)


def rasterise(projected, triangles, width, height):
    """Visible triangle (-1: none), barycentric coordinates of its first two corners, and depth, per pixel."""
    face = np.full(width * height, -1, np.int64)
    depth = np.full(width * height, -np.inf)
    bary = np.zeros((width * height, 2))
    p = projected[triangles]
    low = np.maximum(np.ceil(p[:, :, :2].min(1) - 0.5), 0).astype(np.int64)
    high = np.minimum(np.floor(p[:, :, :2].max(1) - 0.5), [width - 1, height - 1]).astype(np.int64)
    size = np.maximum(high - low + 1, 0)
    area = (p[:, 1, 0] - p[:, 0, 0]) * (p[:, 2, 1] - p[:, 0, 1]) - (p[:, 2, 0] - p[:, 0, 0]) * (p[:, 1, 1] - p[:, 0, 1])
    number = size[:, 0] * size[:, 1] * (np.abs(area) > 1e-12)
    ends = np.cumsum(number)
    begin = 0
    while begin < len(triangles):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + CANDIDATES, "right")))
        n = number[begin:end]
        t = np.repeat(np.arange(begin, end), n)
        begin = end
        if not len(t):
            continue
        k = np.arange(len(t)) - np.repeat(np.cumsum(n) - n, n)
        px = low[t, 0] + k % size[t, 0]
        py = low[t, 1] + k // size[t, 0]
        x, y = px + 0.5, py + 0.5
        a, b, c = p[t, 0], p[t, 1], p[t, 2]
        wa = ((b[:, 0] - x) * (c[:, 1] - y) - (c[:, 0] - x) * (b[:, 1] - y)) / area[t]
        wb = ((c[:, 0] - x) * (a[:, 1] - y) - (a[:, 0] - x) * (c[:, 1] - y)) / area[t]
        wc = 1 - wa - wb
        inside = (wa >= -1e-9) & (wb >= -1e-9) & (wc >= -1e-9)
        z = (wa * a[:, 2] + wb * b[:, 2] + wc * c[:, 2])[inside]
        pixel, t, wa, wb = (py * width + px)[inside], t[inside], wa[inside], wb[inside]
        # Of equal pixels the nearest comes last, and the last assignment counts.
        order = np.argsort(z, kind="stable")
        order = order[z[order] > depth[pixel[order]]]
        pixel = pixel[order]
        depth[pixel], face[pixel] = z[order], t[order]
        bary[pixel, 0], bary[pixel, 1] = wa[order], wb[order]
    return face.reshape(height, width), bary.reshape(height, width, 2), depth.reshape(height, width)


def box_blur(image, radius):
    """Mean over a square window, edges repeated."""
    for axis in (0, 1):
        pad = [(0, 0)] * image.ndim
        pad[axis] = (radius + 1, radius)
        total = np.cumsum(np.pad(image, pad, mode="edge"), axis=axis)
        n = image.shape[axis]
        image = (np.take(total, np.arange(2 * radius + 1, 2 * radius + 1 + n), axis)
                 - np.take(total, np.arange(n), axis)) / (2 * radius + 1)
    return image


def _shadow(points, triangles, where, light, resolution=700):
    """Share of the light that reaches the world positions `where`, softened."""
    helper = np.array([0.0, 0, 1]) if abs(light[2]) < 0.9 else np.array([1.0, 0, 0])
    right = np.cross(helper, light)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(light, right), light])
    camera = fit(axes, [points], resolution, resolution)
    _, _, depth = rasterise(camera.project(points), triangles, resolution, resolution)
    seen = camera.project(where)
    lit = np.zeros(len(where))
    offsets = [(i, j) for i in (-4, -2, 0, 2, 4) for j in (-4, -2, 0, 2, 4)]
    for i, j in offsets:
        x = np.clip(seen[:, 0].astype(int) + i, 0, resolution - 1)
        y = np.clip(seen[:, 1].astype(int) + j, 0, resolution - 1)
        lit += seen[:, 2] > depth[y, x] - 9.0
    return lit / len(offsets)


def _occlusion(depth, covered, radius):
    """Darkening where the surroundings lie nearer to the viewer [Luft, Colditz, Deussen 2006]."""
    filled = np.where(covered, depth, depth[covered].min() if covered.any() else 0.0)
    weight = box_blur(covered.astype(float), radius)
    mean = box_blur(np.where(covered, filled, 0.0), radius) / np.maximum(weight, 1e-9)
    return np.clip((mean - filled) / (2.0 * radius), 0, 1) * covered


def render(points, triangles, sides, normals, colours, camera, lines=None, grid=0.16, supersample=2):
    """RGBA image, shape (height, width, 4), transparent where nothing is. points (n, 3), triangles (m, 3), normals
    (m, 3, 3) per corner, colours: function of the nodal interpolation weights (t, w) -> RGB. `lines`: list of (points,
    edges, rgb, alpha) drawn with the depth test, hidden parts at a third of their alpha. `grid`: strength of mesh lines."""
    s = supersample
    camera = Camera(camera.axes, camera.corner, camera.scale * s, camera.width * s, camera.height * s)
    projected = camera.project(points)
    face, bary, depth = rasterise(projected, triangles, camera.width, camera.height)
    covered = face >= 0
    image = np.zeros((camera.height, camera.width, 4))
    if covered.any():
        t = face[covered]
        w = np.concatenate([bary[covered], 1 - bary[covered].sum(1, keepdims=True)], 1)
        normal = np.einsum("pk,pki->pi", w, normals[t])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        towards = camera.axes[2]
        normal *= np.where(normal @ towards < 0, -1.0, 1.0)[:, None]
        key = camera.axes.T @ (np.array([-0.45, 0.65, 0.62]) / np.linalg.norm([-0.45, 0.65, 0.62]))
        fill = camera.axes.T @ (np.array([0.8, 0.05, 0.6]) / np.linalg.norm([0.8, 0.05, 0.6]))
        where = np.einsum("pk,pki->pi", w, points[triangles[t]])
        lit = _shadow(points, triangles, where, key)
        half = key + towards
        half /= np.linalg.norm(half)
        diffuse = np.clip(normal @ key, 0, 1) * (0.25 + 0.75 * lit)
        light = 0.5 + 0.5 * diffuse + 0.16 * np.clip(normal @ fill, 0, 1)
        light *= 1 - 0.55 * _occlusion(depth, covered, max(4, camera.height // 40))[covered]
        rgb = colours(t, w) * light[:, None]
        rgb += 0.13 * (np.clip(normal @ half, 0, 1) ** 40 * lit)[:, None]
        if grid > 0:
            rgb *= (1 - grid * _near_side(projected, triangles, sides, t, w, 0.55 * s))[:, None]
        image[covered, :3] = np.clip(rgb, 0, 1)
        image[covered, 3] = 1
    for line_points, edges, rgb, alpha in lines or []:
        _draw_lines(image, depth, camera.project(line_points), edges, rgb, alpha, s)
    # Average with premultiplied alpha.
    image[:, :, :3] *= image[:, :, 3:]
    small = image.reshape(camera.height // s, s, camera.width // s, s, 4).mean((1, 3))
    small[:, :, :3] /= np.maximum(small[:, :, 3:], 1e-9)
    return np.clip(small, 0, 1)


def _near_side(projected, triangles, sides, t, w, width):
    """1 on an element side, 0 farther than `width` pixels; faded out where elements are only a few pixels wide."""
    p = projected[triangles][:, :, :2]
    edge = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 1], p[:, 0] - p[:, 2]], 1)
    area = np.abs(edge[:, 0, 0] * edge[:, 1, 1] - edge[:, 0, 1] * edge[:, 1, 0])
    height = area[:, None] / np.maximum(np.linalg.norm(edge, axis=2), 1e-9)
    # Side i (corners i, i+1) is opposite to corner i+2.
    distance = w[:, [2, 0, 1]] * height[t]
    near = np.clip(1.5 - distance / width, 0, 1) * sides[t] * np.clip((height[t] - 4 * width) / (6 * width), 0, 1)
    return near.max(1)


def _draw_lines(image, depth, projected, edges, rgb, alpha, thickness):
    height, width = depth.shape
    mask = np.zeros((height, width))
    for a, b in edges:
        p, q = projected[a], projected[b]
        n = int(np.ceil(2 * np.hypot(*(q - p)[:2]))) + 1
        along = p + np.linspace(0, 1, n)[:, None] * (q - p)
        for dx in range(thickness):
            for dy in range(thickness):
                x, y = (along[:, 0] + dx).astype(int), (along[:, 1] + dy).astype(int)
                ok = (x >= 0) & (x < width) & (y >= 0) & (y < height)
                x, y, z = x[ok], y[ok], along[ok, 2]
                strength = np.where(z > depth[y, x] - 2.0 * thickness, 1.0, 0.3)
                np.maximum.at(mask, (y, x), strength)
    blend = (mask * alpha)[:, :, None]
    new_alpha = blend[:, :, 0] + image[:, :, 3] * (1 - blend[:, :, 0])
    mixed = np.asarray(rgb) * blend + image[:, :, :3] * image[:, :, 3:] * (1 - blend)
    image[:, :, :3] = np.where(new_alpha[:, :, None] > 0, mixed / np.maximum(new_alpha[:, :, None], 1e-9), 0)
    image[:, :, 3] = new_alpha
