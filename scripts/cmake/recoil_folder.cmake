# Warnings, for our own sources only.
add_library(recoil_options INTERFACE)
target_compile_options(recoil_options INTERFACE -Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # False alarms of g++ 12: undefined operands of its own AVX-512 intrinsics, std::string's operator+ (PR105651), and
  # classes with members from anonymous namespaces in sources that are compiled together.
  target_compile_options(recoil_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-subobject-linkage)
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

# Compiler options for sources that are not worth the time of a higher optimisation. At -O1 g++ 12 takes the undefined
# operands of its own AVX-512 intrinsics for uninitialised variables.
set(recoil_little_optimisation "$<$<CONFIG:Release>:-O1>" "$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>")

# recoil_embed_text(NAME FILE): the file of the repository as the text <NAME>, in <NAME>.cpp of the build folder.
function(recoil_embed_text name file)
  set(file ${CMAKE_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  configure_file(${CMAKE_SOURCE_DIR}/src/app/scene/text.cpp.in ${name}.cpp @ONLY)
endfunction()

# recoil_add_folder(NAME SOURCES .. PUBLIC .. PRIVATE ..): the library recoil::<NAME> of src/<NAME>;
# a nested folder a/b gives recoil::a_b.
function(recoil_add_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  if(ARG_SOURCES)
    add_library(recoil_${target} ${ARG_SOURCES})
    set(public PUBLIC)
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
