# Installs BUILD into a fresh prefix, moves the prefix (a package must not remember where it was installed first), then
# configures PROJECT against it, builds its TARGET and runs its program.
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
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/build --target ${TARGET} --parallel 2)
run(${WORK}/build/consumer)

# The same program in C, by CMake and by pkg-config; without modes it must say so.
function(refuses_nothing program)
  execute_process(COMMAND ${program} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR NOT output MATCHES "no folder of recoil fracture")
    message(FATAL_ERROR "${program} ends with ${result}\n${output}")
  endif()
endfunction()
refuses_nothing(${WORK}/build/consumer_in_c)
find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE pc ${WORK}/prefix/recoil-fracture.pc)
get_filename_component(libraries ${pc} DIRECTORY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${libraries} ${PKG_CONFIG} --cflags --libs recoil-fracture
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
get_filename_component(libraries ${libraries} DIRECTORY)
run(${C_COMPILER} ${PROJECT}/break_shape.c -o ${WORK}/by_pkg_config ${flags} -Wl,-rpath,${libraries})
refuses_nothing(${WORK}/by_pkg_config)
