#ifndef RECOIL_C_FRACTURE_H
#define RECOIL_C_FRACTURE_H

#include <stddef.h>
#include <stdint.h>

/* Shapes that break where they are hit, from C: five functions on what `recoil fracture` has written (docs/impacts.md,
 * docs/fracture_modes.md of recoil).
 *
 *   recoil_fracture *shape;
 *   recoil_fracture_error error;
 *   if (recoil_fracture_load("modes", &shape, &error) != RECOIL_FRACTURE_OK) puts(error.message);
 *   recoil_fracture_hit hit = {{0, 0, 1}, {0, 0, -1}, 1, 1, 3, 0};
 *   recoil_fracture_impact(shape, &hit, &fragments, &error);
 *   recoil_fracture_pieces(shape, &pieces, &count, &error);
 *   recoil_fracture_free(shape);
 *
 * Nothing is written, printed, or needs MPI. Threads may use different handles at the same time, but not one handle. */

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return. Where it is not RECOIL_FRACTURE_OK nothing that they were to give has changed. */
enum {
  RECOIL_FRACTURE_OK = 0,
  RECOIL_FRACTURE_INTERNAL = 1,   /* a bug of recoil, or memory that ran out */
  RECOIL_FRACTURE_BAD_INPUT = 2,  /* an argument, a folder that is none, a search for modes that has not ended */
  RECOIL_FRACTURE_FILE_ERROR = 4  /* a file that is damaged or cannot be read */
};

/* Why a function failed; may be NULL wherever one is asked for. */
typedef struct recoil_fracture_error {
  int code;
  char message[1024]; /* a sentence: what is wrong, where, how to mend it */
} recoil_fracture_error;

/* A shape with its modes and the impact that it was hit by last. */
typedef struct recoil_fracture recoil_fracture;

/* Lengths are in metres. In 2D third components are not read, and 0 where they are given. */
typedef struct recoil_fracture_hit {
  double place[3];     /* the nearest point of the surface of mesh or cage is hit */
  double direction[3]; /* of any length; zero: into the body */
  double magnitude; /* >= 0: how hard, and sigma > 0: how strong the shape is; a fault opens where magnitude times the */
  double sigma;     /* jump across it is at least sigma. A whole shape feels 1, a piece of a fifth hit alone 5 */
  double speed;        /* of the centre of mass after an impact of magnitude 1 [m/s] */
  int project_on_modes; /* 0: each piece feels the impact near itself; 1: the projection onto the modes */
} recoil_fracture_hit;

/* A closed, oriented, manifold mesh. */
typedef struct recoil_fracture_piece {
  int fragment;  /* several pieces are of one where they hang together through the cage alone */
  int dimension; /* 3: facets are triangles, normals outwards; 2: edges, the body to their left */
  size_t num_vertices, num_facets;
  const double *vertices;     /* x y z of each */
  const int32_t *facets;      /* `dimension` vertices of each, from 0 */
  const int32_t *neighbours;  /* per facet: the piece beyond, -1 on the surface of the body */
  const int32_t *parents;     /* per facet: the one of the input that it is a part of, -1 at faults */
  const double *texture;      /* u v of the three corners of each facet, or NULL */
  const double *colors;       /* r g b of each vertex, or NULL */
} recoil_fracture_piece;

/* A piece as a rigid body. */
typedef struct recoil_fracture_body {
  double volume;     /* [m^dimension] */
  double mass;       /* with the density of the shape, 1 unless it says more [kg] */
  double centre[3];  /* of mass [m] */
  double inertia[9]; /* about the centre, by rows [kg m^2]; in 2D the polar moment is the last entry, the others 0 */
  double velocity[3]; /* [m/s] */
} recoil_fracture_body;

/* Loads a finished folder of `recoil fracture`. */
int recoil_fracture_load(const char *folder, recoil_fracture **shape, recoil_fracture_error *error);

/* Hits the whole shape, in about 0.1 ms; `fragments` (may be NULL) gets the number of parts that still hang together.
 * Pieces and bodies of the impact before are gone. */
int recoil_fracture_impact(recoil_fracture *shape, const recoil_fracture_hit *hit, int *fragments,
                           recoil_fracture_error *error);

/* The pieces after the last impact, those of one fragment before the first. They are cut when they are asked for first,
 * in 10 to 100 ms, and belong to the shape until the next impact. */
int recoil_fracture_pieces(recoil_fracture *shape, const recoil_fracture_piece **pieces, size_t *count,
                           recoil_fracture_error *error);

/* The same pieces as bodies. */
int recoil_fracture_bodies(recoil_fracture *shape, const recoil_fracture_body **bodies, size_t *count,
                           recoil_fracture_error *error);

/* Frees a shape and all that it has given; NULL is fine. */
void recoil_fracture_free(recoil_fracture *shape);

#ifdef __cplusplus
}
#endif

#endif
