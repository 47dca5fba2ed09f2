/* Breaks a shape and tells what its pieces are: break_shape MODES X Y Z MAGNITUDE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "recoil/c/fracture.h"

static int fail(const recoil_fracture_error *error) {
  fprintf(stderr, "break_shape: %s\n", error->message);
  return error->code;
}

/* Volume enclosed by a mesh, from the signed volumes between its facets and the origin. */
static double enclosed(const recoil_fracture_piece *piece) {
  double sum = 0;
  size_t f;
  for (f = 0; f < piece->num_facets; ++f) {
    const double *a = piece->vertices + 3 * piece->facets[piece->dimension * f];
    const double *b = piece->vertices + 3 * piece->facets[piece->dimension * f + 1];
    const double *c = piece->dimension == 3 ? piece->vertices + 3 * piece->facets[3 * f + 2] : a;
    if (piece->dimension == 2)
      sum += (a[0] * b[1] - a[1] * b[0]) / 2;
    else
      sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6;
  }
  return sum;
}

int main(int argc, char **argv) {
  recoil_fracture *shape = NULL;
  recoil_fracture_error error;
  recoil_fracture_hit hit = {{0, 0, 0}, {0, 0, 0}, 1, 1, 1, 0};
  const recoil_fracture_piece *pieces = NULL;
  const recoil_fracture_body *bodies = NULL;
  size_t count = 0, n;
  int fragments = 0, i;
  if (argc != 6) {
    fprintf(stderr, "usage: break_shape MODES X Y Z MAGNITUDE\n");
    return RECOIL_FRACTURE_BAD_INPUT;
  }
  if (recoil_fracture_load(argv[1], &shape, &error) != RECOIL_FRACTURE_OK) return fail(&error);
  for (i = 0; i < 3; ++i) hit.place[i] = atof(argv[2 + i]);
  hit.magnitude = atof(argv[5]);
  if (recoil_fracture_impact(shape, &hit, &fragments, &error) != RECOIL_FRACTURE_OK ||
      recoil_fracture_pieces(shape, &pieces, &count, &error) != RECOIL_FRACTURE_OK ||
      recoil_fracture_bodies(shape, &bodies, &count, &error) != RECOIL_FRACTURE_OK) {
    recoil_fracture_free(shape);
    return fail(&error);
  }
  printf("%d fragments, %lu pieces\n", fragments, (unsigned long)count);
  for (n = 0; n < count; ++n) {
    printf("piece %lu: fragment %d, %lu facets, volume %.17g, centre %.17g %.17g %.17g, velocity %.17g %.17g %.17g\n", (unsigned long)n,
           pieces[n].fragment, (unsigned long)pieces[n].num_facets, bodies[n].volume, bodies[n].centre[0],
           bodies[n].centre[1], bodies[n].centre[2], bodies[n].velocity[0], bodies[n].velocity[1], bodies[n].velocity[2]);
    if (fabs(enclosed(&pieces[n]) - bodies[n].volume) > 1e-9 * bodies[n].volume) {
      fprintf(stderr, "break_shape: piece %lu has another volume than its mesh\n", (unsigned long)n);
      recoil_fracture_free(shape);
      return RECOIL_FRACTURE_INTERNAL;
    }
  }
  /* A wrong argument is told, and changes nothing. */
  hit.sigma = 0;
  if (recoil_fracture_impact(shape, &hit, NULL, &error) != RECOIL_FRACTURE_BAD_INPUT) return RECOIL_FRACTURE_INTERNAL;
  recoil_fracture_free(shape);
  recoil_fracture_free(NULL);
  return RECOIL_FRACTURE_OK;
}
