/* Hits the shape of a folder that `recoil fracture` has made, and tells what its pieces are. */
#include <stdio.h>

#include <recoil/c/fracture.h>

int main(int argc, char **argv) {
  recoil_fracture *shape = NULL;
  recoil_fracture_error error;
  recoil_fracture_hit hit = {{0, 0, 1}, {0, 0, -1}, 1, 1, 3, 0};
  const recoil_fracture_body *bodies = NULL;
  size_t count = 0, n;
  if (recoil_fracture_load(argc > 1 ? argv[1] : ".", &shape, &error) != RECOIL_FRACTURE_OK) {
    puts(error.message);
    return argc > 1 ? error.code : 0;
  }
  if (recoil_fracture_impact(shape, &hit, NULL, &error) != RECOIL_FRACTURE_OK ||
      recoil_fracture_bodies(shape, &bodies, &count, &error) != RECOIL_FRACTURE_OK)
    puts(error.message);
  for (n = 0; n < count; ++n) printf("piece %lu: %g kg\n", (unsigned long)n, bodies[n].mass);
  recoil_fracture_free(shape);
  return error.code;
}
