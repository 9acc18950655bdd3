# The Python extension megakittens._core. A build of the tree writes it into python/megakittens, where the package is
# complete with it; scikit-build-core installs it into a wheel.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cpp)
nanobind_add_module(megakittens_python NB_STATIC ${sources})
get_property(components GLOBAL PROPERTY MK_COMPONENTS)
target_link_libraries(megakittens_python PRIVATE mk_warnings ${components})
target_include_directories(megakittens_python PRIVATE ${PROJECT_SOURCE_DIR}/python/src)
mk_precompile_headers(megakittens_python python <nanobind/nanobind.h>)
set_target_properties(megakittens_python PROPERTIES OUTPUT_NAME _core)
# The library's own sources as one unit: half the time.
set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
if(SKBUILD)
  install(TARGETS megakittens_python LIBRARY DESTINATION megakittens COMPONENT python)
  # What `make cubins` has made; git ignores it, and with it the rule that takes a package's files.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/megakittens/cubins DESTINATION megakittens COMPONENT python OPTIONAL
          FILES_MATCHING PATTERN *.cubin)
else()
  set_target_properties(megakittens_python PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/megakittens)
  file(WRITE ${PROJECT_BINARY_DIR}/megakittens-python.txt "This build writes the extension into python/megakittens.\n")
endif()
