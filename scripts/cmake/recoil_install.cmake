# What `cmake --install` puts where beside libraries and the program: public headers and a CMake package `recoil`.
include(CMakePackageConfigHelpers)
set(RECOIL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/recoil)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/recoil DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS recoil_abi EXPORT recoil_targets)
install(EXPORT recoil_targets NAMESPACE recoil:: DESTINATION ${RECOIL_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/recoilConfig.cmake.in ${PROJECT_BINARY_DIR}/recoilConfig.cmake
                              INSTALL_DESTINATION ${RECOIL_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/recoilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/recoilConfig.cmake ${PROJECT_BINARY_DIR}/recoilConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/recoil_dependencies.cmake DESTINATION ${RECOIL_PACKAGE_DIR})
