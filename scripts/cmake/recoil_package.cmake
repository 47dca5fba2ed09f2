# Debian packages by `cpack -G DEB`: recoil (the component runtime), librecoil-dev (development) and python3-recoil (python). Headers
# and static libraries need compilers and headers of a dozen libraries, which no compute node should have to install.
set(RECOIL_MAINTAINER "The recoil authors <recoil@recoil.invalid>" CACHE STRING "Maintainer whom Debian packages name")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME recoil)
set(CPACK_PACKAGE_CONTACT "${RECOIL_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed differentiable solver for deformable bodies in contact")
set(CPACK_COMPONENTS_ALL runtime development)
set(debian_packages recoil librecoil-dev)
if(RECOIL_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  list(APPEND debian_packages python3-recoil)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and the trigger of ldconfig for librecoil_fracture.so
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME recoil)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS openmpi-bin)
# The scripts that draw, and a BLAS with which sparse Cholesky factorisations are several times faster.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "python3, python3-numpy, python3-h5py, python3-matplotlib, libopenblas0-serial")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "gmsh, paraview, librecoil-dev")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "Simulates nonlinear elasticity with frictional contact, static, quasi-static
and dynamic, on partitioned triangle and tetrahedron meshes over any number
of MPI ranks. A sweep backward through a trajectory gives the exact gradient
of an objective with respect to materials, friction, loads, initial states
and shapes, by which parameters are estimated from experiments.
.
This package holds the program, scripts that draw and report, and jobs to
begin with.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librecoil-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What recoil_dependencies.cmake looks for.
string(
  JOIN ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libpetsc-real-dev (>= 3.18)" "libslepc-real-dev (>= 3.18)" "libeigen3-dev (>= 3.4)" "libboost-dev (>= 1.74)" libopenmpi-dev
  libhdf5-openmpi-dev liblapack-dev libmetis-dev libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev zlib1g-dev pkg-config)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.25), recoil")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "Static libraries, headers and a CMake package, with which other programs use
what recoil consists of: meshes, finite elements, contact, solvers, adjoints.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-recoil)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${python_needed}, python3-numpy, python3-h5py, openmpi-bin")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-mpi4py, libopenblas0-serial")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-scipy, python3-torch, recoil")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION
    "Python package: runs scenes given as dictionaries or files, reads
trajectories as numpy arrays, and gives the objective of a study with its
exact gradient, residuals and Jacobian to optimisers, samplers and networks,
on any number of MPI ranks.")

# Debian's own folders need no search path in the program, and a package must have none.
install(
  CODE "
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}/usr/${CMAKE_INSTALL_BINDIR}/recoil\")
  endif()"
  COMPONENT runtime)
if(RECOIL_PYTHON)
  install(
    CODE "
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}/usr/${RECOIL_PYTHON_DIR}/recoil/$<TARGET_FILE_NAME:recoil_python>\")
    endif()"
    COMPONENT python)
endif()

# What Debian wants in /usr/share/doc of every package.
file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/changelog latest_change LIMIT_COUNT 1)
if(NOT latest_change MATCHES "^recoil \\(${PROJECT_VERSION}\\)")
  message(FATAL_ERROR "packaging/changelog does not begin with version ${PROJECT_VERSION}: add an entry that says what it changes")
endif()
find_program(RECOIL_GZIP gzip REQUIRED)
set(packed ${PROJECT_BINARY_DIR}/packed)
file(MAKE_DIRECTORY ${packed})
foreach(page IN ITEMS changelog recoil.1)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/${page})
  execute_process(COMMAND ${RECOIL_GZIP} -9nc ${PROJECT_SOURCE_DIR}/packaging/${page} OUTPUT_FILE ${packed}/${page}.gz
                          COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(component package IN ZIP_LISTS CPACK_COMPONENTS_ALL debian_packages)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES ${packed}/changelog.gz DESTINATION ${folder} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright COMPONENT ${component})
endforeach()
install(FILES ${packed}/recoil.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ COMPONENT development
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/librecoil-dev/examples)

# Its instruction set would end the program on another machine.
if(RECOIL_NATIVE)
  file(CONFIGURE OUTPUT refuse_native.cmake CONTENT
       "message(FATAL_ERROR \"recoil is built for this machine alone (RECOIL_NATIVE); pack what the preset `package` builds\")\n")
  set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/refuse_native.cmake)
endif()
include(CPack)
