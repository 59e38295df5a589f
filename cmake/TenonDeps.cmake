# What we use from outside: `tenon_deps` is everything that the library links, all of it hidden or
# header-only but for liblzma, zlib, SLEEF, RE2, ICU, libpng, LevelDB and ISA-L.

execute_process(
  COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER}
          "${PROJECT_SOURCE_DIR}/cmake/hidden_deps.sh" --find ${TENON_SANITIZER}
  OUTPUT_VARIABLE TENON_DEPS_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "protobuf and Abseil are not built yet for this compiler (${TENON_SANITIZER}). "
                      "This builds them, once a machine, in a minute: CXX=${CMAKE_CXX_COMPILER} cmake/hidden_deps.sh ${TENON_SANITIZER}")
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${PROJECT_SOURCE_DIR}/cmake/hidden_deps.sh" "${TENON_DEPS_PREFIX}/complete")
unset(absl_DIR CACHE)

find_package(Threads REQUIRED)
find_package(absl REQUIRED CONFIG PATHS "${TENON_DEPS_PREFIX}" NO_DEFAULT_PATH)
find_package(LibLZMA REQUIRED)
find_package(ZLIB REQUIRED)
find_program(TENON_PROTOC protoc REQUIRED)
find_library(TENON_SLEEF sleef REQUIRED)
find_library(TENON_RE2 re2 REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc)
find_package(PNG REQUIRED)
find_library(TENON_LEVELDB leveldb REQUIRED)
find_library(TENON_ISAL isal REQUIRED)
find_path(TENON_RANDOM123 Random123/philox.h REQUIRED)
# Small and position independent: linked statically, so that a user installs less.
find_library(TENON_FARMHASH libfarmhash.a REQUIRED)
find_library(TENON_HIGHWAYHASH libhighwayhash.a REQUIRED)
find_library(TENON_MINIZIP libminizip.a REQUIRED)
# Statically too, and so hidden: a plug-in may carry its own, which shared ones would pre-empt.
set(TENON_IMAGE_LIBRARIES)
foreach(name IN ITEMS jpeg gif webpdemux webp)
  find_library(TENON_LIB_${name} lib${name}.a)
  if(NOT TENON_LIB_${name})
    message(FATAL_ERROR "lib${name}.a is missing; ./dev setup installs its Debian package")
  endif()
  list(APPEND TENON_IMAGE_LIBRARIES "${TENON_LIB_${name}}")
endforeach()
# Opened at run time, never linked: its path is needed for its list of exports only.
find_library(TENON_ONEDNN dnnl REQUIRED)

add_library(tenon_deps INTERFACE)
target_include_directories(
  tenon_deps SYSTEM INTERFACE "${TENON_DEPS_PREFIX}/include" /usr/include/eigen3)
target_link_libraries(
  tenon_deps
  INTERFACE "${TENON_DEPS_PREFIX}/lib/libprotobuf.a"
            absl::any_invocable absl::btree absl::cleanup absl::cord absl::fixed_array
            absl::flat_hash_map absl::flat_hash_set absl::function_ref absl::hash
            absl::inlined_vector absl::int128 absl::node_hash_map absl::span
            absl::status absl::statusor absl::str_format absl::strings absl::synchronization
            absl::time
            LibLZMA::LibLZMA ZLIB::ZLIB PNG::PNG ICU::uc ${TENON_SLEEF} ${TENON_RE2}
            ${TENON_LEVELDB} ${TENON_ISAL} ${TENON_FARMHASH} ${TENON_HIGHWAYHASH}
            ${TENON_MINIZIP} ${TENON_IMAGE_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
