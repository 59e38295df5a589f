# What an installation holds, and what find_package(Tenon) and pkg-config say of it; docs/library.md tells users. Each
# component is a Debian package: `tenon` has the command, `libtenon0` what programs load, `libtenon-dev` what they are
# built with.
include(CMakePackageConfigHelpers)

set(TENON_TENSORFLOW_VERSION 2.21.0)  # the release whose C API this is
set(headers "${PROJECT_SOURCE_DIR}/graph/include" "${PROJECT_SOURCE_DIR}/optimizer_api/include"
            "${PROJECT_SOURCE_DIR}/plugin/include" "${PROJECT_SOURCE_DIR}/executor/include"
            "${TENON_OP_HEADERS_DIR}")

set(generated "${PROJECT_BINARY_DIR}/generated/package")

# tenon_config(FOLDER): writes TenonConfig.cmake and its version file into FOLDER.
function(tenon_config folder)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/package/TenonConfig.cmake.in"
                 "${folder}/TenonConfig.cmake" @ONLY)
  # Of one soname all releases serve a program that was built with an earlier one.
  write_basic_package_version_file("${folder}/TenonConfigVersion.cmake"
                                   COMPATIBILITY SameMajorVersion)
endfunction()

# First of all: an installation ends here if an op has changed since its functions were built.
get_property(op_headers_stamp GLOBAL PROPERTY TENON_OP_HEADER_STAMP)
configure_file("${PROJECT_SOURCE_DIR}/cmake/package/check_build.cmake.in" "${generated}/check_build.cmake" @ONLY)
install(SCRIPT "${generated}/check_build.cmake" COMPONENT libtenon-dev)

# For the build tree, which needs no installation.
set(to_prefix .)
set(includes "${headers}")
set(library "lib/libtenon.so.${PROJECT_VERSION}")
set(program bin/graph_run)
set(private lib/tenon)
set(plugins lib/plugins)
tenon_config("${PROJECT_BINARY_DIR}")

# For the installed tree, whose paths are relative to its prefix.
set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Tenon")
string(REGEX REPLACE "[^/]+" ".." to_prefix "${config_folder}")
set(includes "\${_tenon_prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(library "${CMAKE_INSTALL_LIBDIR}/libtenon.so.${PROJECT_VERSION}")
set(program "${CMAKE_INSTALL_BINDIR}/graph_run")
set(private "${CMAKE_INSTALL_LIBDIR}/tenon")
set(plugins "${private}/plugins")
tenon_config("${generated}")
install(FILES "${generated}/TenonConfig.cmake" "${generated}/TenonConfigVersion.cmake"
        DESTINATION "${config_folder}" COMPONENT libtenon-dev)

# tenon_pkg_config(NAME FOLDER VERSION LIBS DESCRIPTION): NAME.pc in FOLDER.
function(tenon_pkg_config name folder version libs description)
  string(REGEX REPLACE "[^/]+" ".." to_prefix "${folder}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/package/library.pc.in" "${generated}/${name}.pc" @ONLY)
  install(FILES "${generated}/${name}.pc" DESTINATION "${folder}" COMPONENT libtenon-dev)
endfunction()
tenon_pkg_config(tenon "${CMAKE_INSTALL_LIBDIR}/pkgconfig" "${PROJECT_VERSION}"
                 "-L\${libdir} -ltenon" "Runs TensorFlow-style graphs and plug-ins")
tenon_pkg_config(tensorflow_c "${CMAKE_INSTALL_LIBDIR}/pkgconfig" "${TENON_TENSORFLOW_VERSION}"
                 "-L\${libdir} -ltenon" "TensorFlow's C API, by Tenon")
# TensorFlow's own name for it, seen only by those who look into this folder.
tenon_pkg_config(tensorflow "${private}/pkgconfig" "${TENON_TENSORFLOW_VERSION}"
                 "-L\${libdir}/tenon -ltensorflow" "TensorFlow's C API, by Tenon")

install(TARGETS graph_run RUNTIME COMPONENT tenon)
install(TARGETS apu LIBRARY DESTINATION "${plugins}" COMPONENT tenon)
if(TARGET opencl)
  install(TARGETS opencl LIBRARY DESTINATION "${plugins}" COMPONENT tenon)
endif()
install(TARGETS tenon LIBRARY COMPONENT libtenon0 NAMELINK_COMPONENT libtenon-dev)
install(TARGETS shim_framework shim_tensorflow shim_cc shim_pywrap
        LIBRARY DESTINATION "${private}" COMPONENT libtenon0)
install(TARGETS tenon_linalg LIBRARY DESTINATION "${private}" COMPONENT libtenon0)
install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tenon/libtenon.so.${PROJECT_VERSION_MAJOR}"
        DESTINATION "${private}" COMPONENT libtenon0)

foreach(name IN ITEMS libtensorflow.so libtensorflow_framework.so libtensorflow_cc.so)
  install(FILES "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tenon/${name}" DESTINATION "${private}"
          COMPONENT libtenon-dev)
endforeach()
foreach(folder IN LISTS headers)
  if(NOT folder STREQUAL TENON_OP_HEADERS_DIR)
    install(DIRECTORY "${folder}/" TYPE INCLUDE COMPONENT libtenon-dev FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
get_property(op_headers GLOBAL PROPERTY TENON_OP_HEADERS)
foreach(header IN LISTS op_headers)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${TENON_OP_HEADERS_DIR}" OUTPUT_VARIABLE path)
  cmake_path(GET path PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}" COMPONENT libtenon-dev)
endforeach()

install(FILES LICENSE README.md CHANGELOG.md TYPE DOC COMPONENT tenon)
install(DIRECTORY docs TYPE DOC COMPONENT tenon FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.json")
install(FILES cmake/package/graph_run.bash
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions" RENAME graph_run COMPONENT tenon)
install(FILES cmake/package/graph_run.zsh
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions" RENAME _graph_run COMPONENT tenon)
install(FILES cmake/package/graph_run.fish
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d" COMPONENT tenon)
set(man_pages "${PROJECT_BINARY_DIR}/generated/man1")
set(man_pages_script "${PROJECT_SOURCE_DIR}/cmake/package/man_pages.sh")
add_custom_command(OUTPUT "${man_pages}/graph_run.1"
                   COMMAND "${man_pages_script}" $<TARGET_FILE:graph_run> "${man_pages}"
                   DEPENDS graph_run "${man_pages_script}" COMMENT "Man pages of graph_run" VERBATIM)
add_custom_target(tenon_man_pages ALL DEPENDS "${man_pages}/graph_run.1")
install(DIRECTORY "${man_pages}" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT tenon)
set(examples "${CMAKE_INSTALL_DOCDIR}/examples/c")
install(DIRECTORY examples/c/ DESTINATION "${examples}" COMPONENT libtenon-dev)
install(DIRECTORY examples/cpp/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples/cpp" COMPONENT libtenon-dev)
install(DIRECTORY tests/golden/saved_models/affine_state/model/
        DESTINATION "${examples}/affine_state" COMPONENT libtenon-dev)

include(TenonDebian)
