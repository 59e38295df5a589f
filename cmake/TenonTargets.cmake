# The kinds of targets: a folder of the library, a plug-in, and the tests of a folder.

# One precompiled header for the library, one for tests (with GoogleTest). The checksum file stands
# for the compiled header in ccache's eyes: compiled headers differ from build to build. Comments do not count.
function(tenon_precompiled_header target header)
  set(source "${CMAKE_BINARY_DIR}/generated/${target}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE tenon_deps)
  # ccache would store some 100 MB per header, and mix up those that differ in a -D only.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_precompile_headers(
    ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/${header}>")
  file(GLOB headers "${PROJECT_SOURCE_DIR}/cmake/*pch.h")
  set(sum "${TENON_DEPS_PREFIX} ${CMAKE_CXX_COMPILER_VERSION} ${header}\n")
  foreach(file IN LISTS headers)
    file(READ "${file}" text)
    string(REGEX REPLACE "//[^\n]*\n" "" text "${text}")
    string(SHA256 hash "${text}")
    string(APPEND sum "${hash}\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(gch "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch")
  file(CONFIGURE OUTPUT "${gch}.sum" CONTENT "${sum}")
endfunction()

set(TENON_INCLUDE_DIRS
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/graph/include"
    "${PROJECT_SOURCE_DIR}/optimizer_api/include" "${PROJECT_SOURCE_DIR}/plugin/include"
    "${PROJECT_SOURCE_DIR}/executor/include")

# Headers of ops of the C++ library, which executor/op_headers writes.
set(TENON_OP_HEADERS_DIR "${PROJECT_BINARY_DIR}/generated/include")

# tenon_isa_sources(OUT FILE...): a source for each instruction set (sse2, avx2, avx512) and each
# *_isa.inc, which gets the set's name as TENON_ISA and the size of its vectors. Files byte_*_isa.inc
# also have one for each set with instructions that sum products of bytes.
function(tenon_isa_sources out)
  set(sources)
  foreach(file IN LISTS ARGN)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    string(REGEX REPLACE "_isa\\.inc$" "" name "${path}")
    set(isas ${TENON_ISAS})
    set(vector_bytes ${TENON_ISA_BYTES})
    if(file MATCHES "/byte_[a-z_]+_isa\\.inc$")
      list(APPEND isas ${TENON_BYTE_ISAS})
      list(APPEND vector_bytes ${TENON_BYTE_ISA_BYTES})
    endif()
    foreach(isa bytes IN ZIP_LISTS isas vector_bytes)
      set(source "${CMAKE_BINARY_DIR}/generated/${name}_${isa}.cc")
      file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
[[#define TENON_ISA @isa@
#define TENON_VECTOR_BYTES @bytes@
#include "@path@"
]])
      list(APPEND sources "${source}")
    endforeach()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
set(TENON_ISAS sse2 avx2 avx512)
set(TENON_ISA_BYTES 16 32 64)
set(TENON_BYTE_ISAS avx2_vnni avx512_vnni amx)
set(TENON_BYTE_ISA_BYTES 32 64 64)

# Files named *_sse2.cc, *_avx2.cc and so on are compiled for that instruction set, without the
# precompiled header: they must share no inline function with baseline code. They hold inner loops,
# so they are vectorized in every preset; floats keep IEEE's rules but for the flags and errno.
function(tenon_set_isa_flags)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_sse2\\.cc$")
      set(flags)
    elseif(source MATCHES "_avx2(_vnni)?\\.cc$")
      set(flags -mavx2 -mfma -mf16c)
      if(source MATCHES "_vnni")
        list(APPEND flags -mavxvnni)
      endif()
    elseif(source MATCHES "_(avx512|avx512_vnni|amx)\\.cc$")
      set(flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c
          -mprefer-vector-width=512)
      if(source MATCHES "_(avx512_vnni|amx)\\.cc$")
        list(APPEND flags -mavx512vnni)
      endif()
      if(source MATCHES "_amx\\.cc$")
        list(APPEND flags -mamx-tile -mamx-int8)
      endif()
    else()
      continue()
    endif()
    list(APPEND flags -O3 -fno-math-errno -fno-trapping-math)
    set_source_files_properties(
      "${source}" PROPERTIES COMPILE_OPTIONS "${flags}" SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# tenon_batches(LIST NAME name BYTES n [ALONE regex...] [COLD regex...] [LEAN regex...]): replaces the sources in LIST
# by batches, generated sources that include up to BYTES of text each. Sources in a batch share the work of their
# headers and templates: most of the compile time of a small source. So a name in an anonymous namespace is unique
# within its library. A batch ends with a folder where it can: a new source then changes few batches.
#   ALONE  stays by itself: it has flags of its own, or its speed is not to depend on its neighbours.
#   COLD   runs once a command, a model or a plug-in. So does a source X.cc beside a source X_loops.cc: it only
#          prepares what runs there. Releases optimize such batches little, which takes two thirds of the time.
#   LEAN   has no loops over elements: its batches leave out five passes of the compiler, which take a fifth of its
#          time and gain nothing there.
# Sources that include plugin/kernels/kernel.h have batches of their own, since a line of that header compiles all of
# them: what does not prepare steps does not include it. In the build type Dev all sources stay alone, which shows
# that each includes what it needs.
function(tenon_batches list)
  cmake_parse_arguments(arg "" "NAME;BYTES" "ALONE;COLD;LEAN" ${ARGN})
  if(tenon_build_type STREQUAL dev)
    return()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}"
             OUTPUT_VARIABLE root)
  # clang-tidy reads all of a batch for one changed source.
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set(arg_BYTES 60000)
  endif()
  math(EXPR half "${arg_BYTES} / 2")
  set(result)
  set(batches)
  foreach(source IN LISTS ${list})
    set(kind batch)
    foreach(kinds IN ITEMS LEAN COLD ALONE)  # the last one that matches counts
      foreach(regex IN LISTS arg_${kinds})
        if(source MATCHES "${regex}")
          string(TOLOWER ${kinds} kind)
        endif()
      endforeach()
    endforeach()
    string(REGEX REPLACE "\\.cc$" "_loops.cc" loops "${source}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${loops}")
      set(kind cold)
    endif()
    if(kind STREQUAL alone)
      list(APPEND result "${source}")
      continue()
    endif()
    file(STRINGS "${source}" prepares LIMIT_COUNT 1 REGEX "^#include \"plugin/kernels/kernel\\.h\"")
    if(prepares)
      string(PREPEND kind "kernel_")
    endif()
    cmake_path(GET source PARENT_PATH folder)
    file(SIZE "${CMAKE_CURRENT_SOURCE_DIR}/${source}" bytes)
    math(EXPR sum "0${${kind}_bytes} + ${bytes}")
    if(NOT DEFINED ${kind}_count)
      set(${kind}_count 0)
    elseif(sum GREATER arg_BYTES OR (${kind}_bytes GREATER half AND NOT folder STREQUAL ${kind}_folder))
      math(EXPR ${kind}_count "${${kind}_count} + 1")
      set(sum ${bytes})
    endif()
    set(${kind}_bytes ${sum})
    set(${kind}_folder "${folder}")
    set(batch "${CMAKE_BINARY_DIR}/generated/${root}/${arg_NAME}_${kind}_${${kind}_count}.cc")
    string(APPEND content_${batch} "#include \"${root}/${source}\"\n")
    list(APPEND batches "${batch}")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    file(CONFIGURE OUTPUT "${batch}" @ONLY CONTENT "${content_${batch}}")
    if(batch MATCHES "_cold_[0-9]+\\.cc$")
      set_source_files_properties("${batch}" PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Og>")
    elseif(batch MATCHES "_lean_[0-9]+\\.cc$" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)  # clang-tidy does not know these
      set_source_files_properties(
        "${batch}" PROPERTIES COMPILE_OPTIONS
                              "-fno-tree-pre;-fno-gcse;-fno-code-hoisting;-fno-ipa-cp;-fno-ipa-sra")
    endif()
  endforeach()
  set(${list} ${result} ${batches} PARENT_SCOPE)
endfunction()

# tenon_folder(NAME [BYTES n] [EXCLUDE regex...] [ALONE regex...] [COLD regex...] [LEAN regex...] [SOURCES...]):
# object library tenon_NAME of every source below the current folder but those whose path from it matches an
# EXCLUDE, in batches if BYTES says how large, and of SOURCES.
function(tenon_folder name)
  cmake_parse_arguments(arg "" "BYTES" "EXCLUDE;ALONE;COLD;LEAN;SOURCES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.cc)
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  if(arg_BYTES)
    tenon_batches(sources NAME ${name} BYTES ${arg_BYTES} ALONE ${arg_ALONE}
                  COLD ${arg_COLD} LEAN ${arg_LEAN})
  endif()
  list(APPEND sources ${arg_SOURCES})
  if(NOT sources)
    set(sources "${CMAKE_BINARY_DIR}/generated/empty.cc")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "")
  endif()
  add_library(tenon_${name} OBJECT ${sources})
  tenon_set_isa_flags(${sources})
  target_include_directories(tenon_${name} PUBLIC ${TENON_INCLUDE_DIRS})
  target_link_libraries(tenon_${name} PUBLIC tenon_deps)
  target_precompile_headers(tenon_${name} REUSE_FROM tenon_pch)
  if(TARGET tenon_proto_headers)
    add_dependencies(tenon_${name} tenon_proto_headers)
  endif()
endfunction()

# tenon_plugin(NAME SOURCES... [OUTPUT_DIRECTORY dir] [LIBRARIES...]): libNAME.so, built as an outsider
# would: only the public C headers in sight, nothing of ours linked.
function(tenon_plugin name)
  cmake_parse_arguments(arg "" "OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_OUTPUT_DIRECTORY)
    set(arg_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/plugins")
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  add_dependencies(tenon_plugins ${name})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${arg_OUTPUT_DIRECTORY}")
  target_include_directories(
    ${name} PRIVATE "${PROJECT_SOURCE_DIR}/graph/include"
                    "${PROJECT_SOURCE_DIR}/optimizer_api/include"
                    "${PROJECT_SOURCE_DIR}/plugin/include")
  target_link_libraries(${name} PRIVATE Threads::Threads ${arg_LIBRARIES})
endfunction()

# Programs of tests and benchmarks hold the whole library: gold, which the default linker's package brings along, links them in
# less than half of its processor time.
find_program(TENON_GOLD ld.gold)
function(tenon_link_quickly program)
  if(TENON_GOLD)
    target_link_options(${program} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

add_custom_target(tenon_plugins)
tenon_precompiled_header(tenon_pch cmake/pch.h)
