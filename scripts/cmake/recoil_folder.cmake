# Warnings, for our own sources only.
add_library(recoil_options INTERFACE)
target_compile_options(recoil_options INTERFACE -Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # False alarms of g++ 12: std::string's operator+ (PR105651), classes with members from anonymous namespaces in sources
  # that are compiled together, and undefined operands of its own AVX-512 intrinsics.
  target_compile_options(recoil_options INTERFACE -Wno-restrict -Wno-subobject-linkage)
  if(RECOIL_NATIVE)
    target_compile_options(recoil_options INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  # Below 600 MB g++ does not look for memory to free: a sixth less time for a source, a quarter more memory.
  target_compile_options(recoil_options INTERFACE --param=ggc-min-heapsize=600000)
endif()
if(RECOIL_WERROR)
  target_compile_options(recoil_options INTERFACE -Werror)
endif()

# What a program that uses recoil must share with it: the instruction set decides how Eigen aligns its types.
add_library(recoil_abi INTERFACE)
set_target_properties(recoil_abi PROPERTIES EXPORT_NAME abi)
target_compile_features(recoil_abi INTERFACE cxx_std_20)
if(RECOIL_NATIVE)
  target_compile_options(recoil_abi INTERFACE -march=native)
endif()
if(RECOIL_SANITIZE)
  target_compile_options(recoil_abi INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(recoil_abi INTERFACE -fsanitize=address,undefined)
endif()
if(RECOIL_COVERAGE)
  target_compile_options(recoil_abi INTERFACE --coverage)
  target_link_options(recoil_abi INTERFACE --coverage)
endif()
target_link_libraries(recoil_options INTERFACE recoil_abi)

# Compiler option for sources that are not worth the time of a higher optimisation.
set(recoil_little_optimisation "$<$<CONFIG:Release>:-O1>")

# recoil_embed_text(NAME FILE): the file of the repository as the text <NAME>, in <NAME>.cpp of the build folder.
function(recoil_embed_text name file)
  set(file ${CMAKE_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  configure_file(${CMAKE_SOURCE_DIR}/src/app/scene/text.cpp.in ${name}.cpp @ONLY)
endfunction()

# recoil_add_folder(NAME SOURCES .. PUBLIC .. PRIVATE ..): the library recoil::<NAME> of src/<NAME>;
# a nested folder a/b gives recoil::a_b. Its sources compile in a library of its own or, where recoil_compile_together
# adds the folder, with those of its neighbours.
function(recoil_add_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  set(public PUBLIC)
  if(recoil_together)
    list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    target_sources(${recoil_together} PRIVATE ${ARG_SOURCES})
    set(links ${ARG_PUBLIC} ${ARG_PRIVATE})
    list(REMOVE_ITEM links ${recoil_neighbours})
    target_link_libraries(${recoil_together} PRIVATE ${links})
    set(ARG_SOURCES "")
    list(APPEND ARG_PUBLIC ${recoil_together})
  endif()
  if(ARG_SOURCES)
    add_library(recoil_${target} ${ARG_SOURCES})
    target_link_libraries(recoil_${target} PRIVATE ${ARG_PRIVATE})
    target_include_directories(recoil_${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  else()
    add_library(recoil_${target} INTERFACE)
    set(public INTERFACE)
  endif()
  add_library(recoil::${target} ALIAS recoil_${target})
  set_target_properties(recoil_${target} PROPERTIES EXPORT_NAME ${target})
  target_include_directories(
    recoil_${target} ${public} $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(recoil_${target} ${public} recoil_abi $<BUILD_INTERFACE:recoil_options> ${ARG_PUBLIC})
  install(TARGETS recoil_${target} EXPORT recoil_targets COMPONENT development)
endfunction()

# recoil_compile_together(NAME FOLDER ..): adds subfolders whose sources compile as one, in the library recoil_<NAME>; the
# libraries of the folders link it.
function(recoil_compile_together name)
  set(recoil_together recoil_${name})
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" here ${here})
  list(TRANSFORM ARGN PREPEND recoil::${here}_ OUTPUT_VARIABLE recoil_neighbours)
  add_library(${recoil_together} STATIC)
  set_target_properties(${recoil_together} PROPERTIES EXPORT_NAME ${name} UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(${recoil_together} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${recoil_together} PRIVATE $<BUILD_INTERFACE:recoil_options>)
  foreach(folder IN LISTS ARGN)
    add_subdirectory(${folder})
  endforeach()
  install(TARGETS ${recoil_together} EXPORT recoil_targets COMPONENT development)
endfunction()
