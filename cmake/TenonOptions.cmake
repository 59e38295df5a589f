# How everything is compiled: build types, flags, compiler cache, where outputs go.

option(TENON_TESTS "Build the tests" ON)
option(TENON_BENCHMARKS "Build the benchmarks" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Dev, Asan or Tsan" FORCE)
endif()

set(checks "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
set(sanitize "${checks} -fno-omit-frame-pointer")
set(flags_release "-O2 -DNDEBUG")
set(flags_dev "${checks}")
# Null and object-size checks cost a third of the compile time, and what they find faults anyway.
# Enumerations come over the C interface with any value; the host checks them where they arrive.
string(CONCAT flags_asan "${sanitize} -fsanitize=address,undefined -fno-sanitize=null,object-size,enum "
                         "-fno-sanitize-recover=undefined")
set(flags_tsan "${sanitize} -fsanitize=thread")
foreach(type IN ITEMS release dev asan tsan)
  string(TOUPPER ${type} upper)
  foreach(language IN ITEMS C CXX ASM)
    set(CMAKE_${language}_FLAGS_${upper} "${flags_${type}}")
  endforeach()
endforeach()

string(TOLOWER "${CMAKE_BUILD_TYPE}" tenon_build_type)
if(NOT DEFINED flags_${tenon_build_type})
  message(FATAL_ERROR "CMAKE_BUILD_TYPE is '${CMAKE_BUILD_TYPE}'; use Release, Dev, Asan or Tsan")
endif()
if(tenon_build_type MATCHES "^(asan|tsan)$")
  set(TENON_SANITIZER ${tenon_build_type})
else()
  set(TENON_SANITIZER plain)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Executables get -fPIC too, so that one precompiled header serves all.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Designated initializers leave members out on purpose; a batch includes sources, whose types of an
# anonymous namespace g++ 12 takes for those of a header; its checks of bounds and of what is
# initialized warn of right code in Abseil's vectors. g++ seldom collects its garbage, below 1 GB not
# at all: beside a precompiled header that takes a tenth of its time. clang-tidy, which reads the same
# command lines, does not know all of these flags.
add_compile_options(-Wall -Wextra)
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options(
    -Wno-maybe-uninitialized -Wno-uninitialized -Wno-array-bounds -Wno-missing-field-initializers
    --param=ggc-min-heapsize=524288
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage;-fno-gnu-unique;-fpch-preprocess>")
endif()

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/archive")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# Where an installation has its libraries, seen from its programs; in the build tree always ../lib.
include(GNUInstallDirs)
file(RELATIVE_PATH to_libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib" "$ORIGIN/${to_libraries}")
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)

# Relative paths and the precompiled header's checksum file (TenonTargets) make results of one
# checkout hits in another one.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher
      env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_IGNOREOPTIONS=--param=ggc-*
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${TENON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
