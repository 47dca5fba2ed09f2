# Installs BUILD into a fresh prefix and moves the prefix (a package must not remember where it was installed first). Then
# follows the page `library` of the tutorial, which builds and runs examples/ against it, or, where there is a PROJECT,
# configures and builds that.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)
set(ENV{CC} ${C_COMPILER})
set(ENV{CXX} ${COMPILER})
set(ENV{CMAKE_GENERATOR} ${GENERATOR})
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${LAUNCHER})
if(PROJECT)
  run(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${WORK}/build --parallel 2)
  return()
endif()
# Examples compile with warnings as errors, and without optimisation, which takes longer than to run them.
set(ENV{CXXFLAGS} "-O0 -Wall -Wextra -Wpedantic -Werror")
set(ENV{RECOIL_PREFIX} ${WORK}/prefix)
run(bash -c "source ${SOURCE}/scripts/common.sh &&
  exec \"$(drawing_python || echo python3)\" ${SOURCE}/tests/integration/tutorial.py --recoil ${WORK}/prefix/bin/recoil library")

# The program in C by pkg-config, too; without modes it must say so.
find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE pc ${WORK}/prefix/recoil-fracture.pc)
get_filename_component(libraries ${pc} DIRECTORY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${libraries} ${PKG_CONFIG} --cflags --libs recoil-fracture
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
get_filename_component(libraries ${libraries} DIRECTORY)
run(${C_COMPILER} ${SOURCE}/examples/break_shape.c -o ${WORK}/by_pkg_config ${flags} -Wl,-rpath,${libraries})
execute_process(COMMAND ${WORK}/by_pkg_config RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0 OR NOT output MATCHES "no folder of recoil fracture")
  message(FATAL_ERROR "break_shape ends with ${result}\n${output}")
endif()
