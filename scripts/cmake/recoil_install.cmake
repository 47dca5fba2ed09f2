# What `cmake --install` puts where beside libraries and the program, in two components: `runtime`, what running and drawing take,
# and `development`, public headers and a CMake package `recoil`.
include(CMakePackageConfigHelpers)
set(RECOIL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/recoil)
set(RECOIL_SHARED_DIR ${CMAKE_INSTALL_DATADIR}/recoil)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/recoil DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(TARGETS recoil_abi EXPORT recoil_targets COMPONENT development)
install(EXPORT recoil_targets NAMESPACE recoil:: DESTINATION ${RECOIL_PACKAGE_DIR} COMPONENT development)
# In a folder of its own: where the build folder is in PATH, find_package would take a file there for that of an installed recoil.
set(config ${PROJECT_BINARY_DIR}/installed_config)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/recoilConfig.cmake.in ${config}/recoilConfig.cmake
                              INSTALL_DESTINATION ${RECOIL_PACKAGE_DIR})
write_basic_package_version_file(${config}/recoilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/recoilConfig.cmake ${config}/recoilConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/recoil_dependencies.cmake
        DESTINATION ${RECOIL_PACKAGE_DIR} COMPONENT development)

# Scripts, jobs and examples lie beside each other as in the repository, since they name each other.
set(scripts ${PROJECT_SOURCE_DIR}/scripts)
install(PROGRAMS ${scripts}/render.py ${scripts}/render_pieces.py ${scripts}/fracture_page.py ${scripts}/report.py
                 ${scripts}/starts.py
        DESTINATION ${RECOIL_SHARED_DIR}/scripts COMPONENT runtime)
install(FILES ${scripts}/recoil_run.py ${scripts}/own_files.py DESTINATION ${RECOIL_SHARED_DIR}/scripts COMPONENT runtime)
install(DIRECTORY ${scripts}/drawing ${scripts}/reporting DESTINATION ${RECOIL_SHARED_DIR}/scripts COMPONENT runtime
        FILES_MATCHING PATTERN "*.py" PATTERN "*.html")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/jobs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${RECOIL_SHARED_DIR} COMPONENT runtime USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE PATTERN runs EXCLUDE PATTERN truth EXCLUDE)

# So do README.md and documents, and links to scripts, jobs and examples.
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime PATTERN "*.in" EXCLUDE)
file(RELATIVE_PATH to_shared /${CMAKE_INSTALL_DOCDIR} /${RECOIL_SHARED_DIR})
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
foreach(folder IN ITEMS scripts jobs examples)
  file(CREATE_LINK ${to_shared}/${folder} ${PROJECT_BINARY_DIR}/links/${folder} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/links/${folder} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
endforeach()

# The prefix is known when it is installed. Packages of the system need no module.
install(
  CODE "
  set(version ${PROJECT_VERSION})
  set(RECOIL_PYTHON_DIR \"${RECOIL_PYTHON_DIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/modulefile\"
                 \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/modulefiles/recoil/${PROJECT_VERSION}\" @ONLY)"
  COMPONENT module)
