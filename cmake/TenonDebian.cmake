# The packages tenon, libtenon0 and libtenon-dev: `cpack -G DEB` in a build folder where everything is built writes them
# into its folder packages/. tests/packages/debian.sh tries them on a bare Debian 12.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VENDOR Tenon)
set(CPACK_PACKAGE_CONTACT "Tenon <tenon@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)

set(CPACK_COMPONENTS_ALL tenon libtenon0 libtenon-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

# What the files need: Debian's libraries by dpkg-shlibdeps, one another by name.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_TENON_DEPENDS libtenon0)
set(CPACK_COMPONENT_LIBTENON-DEV_DEPENDS libtenon0 tenon)
# oneDNN is opened at run time, which dpkg-shlibdeps cannot see.
file(REAL_PATH "${TENON_ONEDNN}" onednn)
execute_process(COMMAND dpkg-query -S "${onednn}"
                OUTPUT_VARIABLE owner OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
string(REGEX REPLACE ":.*" "" owner "${owner}")
if(result EQUAL 0)
  set(CPACK_DEBIAN_LIBTENON0_PACKAGE_DEPENDS "${owner}")
endif()

# How others come to depend on libtenon0: by its soname. TensorFlow's names are not among these.
set(generated "${PROJECT_BINARY_DIR}/generated/package")
file(CONFIGURE OUTPUT "${generated}/shlibs" NEWLINE_STYLE UNIX
     CONTENT "libtenon ${PROJECT_VERSION_MAJOR} libtenon0 (>= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT "${generated}/triggers" NEWLINE_STYLE UNIX CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBTENON0_PACKAGE_CONTROL_EXTRA "${generated}/shlibs" "${generated}/triggers")

# tenon_package(COMPONENT SECTION TEXT): the first line of TEXT is the summary.
macro(tenon_package component section text)
  string(TOUPPER "${component}" name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME "${component}")
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION "${section}")
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${text}")
  install(FILES cmake/package/copyright DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${component}"
          COMPONENT "${component}")
endmacro()
tenon_package(tenon science [[command that runs TensorFlow-style graphs, without TensorFlow
graph_run runs, times, optimizes, checks and explains GraphDefs and
SavedModels, and loads and checks plug-ins that were built for TensorFlow.
A sample plug-in comes with it.]])
tenon_package(libtenon0 libs [[library that runs TensorFlow-style graphs, without TensorFlow
It has TensorFlow's C API, for graphs, sessions, eager execution and
plug-ins. TensorFlow's library names lie in a folder of their own, for
programs that were linked against TensorFlow.]])
tenon_package(libtenon-dev libdevel [[headers of libtenon: TensorFlow's C API and Tenon's own
For programs and for plug-ins, with CMake and pkg-config files and example
programs.]])

# Notices of what the library contains, from the packages that it was compiled from; Abseil's licence is ours, too.
foreach(package IN ITEMS protobuf-compiler libjpeg62-turbo-dev libgif-dev libwebp-dev libfarmhash-dev
        libhighwayhash-dev libminizip-dev libeigen3-dev libcli11-dev nlohmann-json3-dev
        librandom123-dev libboost-graph-dev)
  set(notice "/usr/share/doc/${package}/copyright")
  if(EXISTS "${notice}")
    file(REAL_PATH "${notice}" notice)
    install(FILES "${notice}" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/libtenon0/third_party"
            RENAME "${package}.copyright" COMPONENT libtenon0)
  endif()
endforeach()

include(CPack)
