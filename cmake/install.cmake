# `cmake --install` gives a C++ user one library: every component merged into megakittens::megakittens.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(megakittens STATIC)
add_library(megakittens::megakittens ALIAS megakittens)
get_property(components GLOBAL PROPERTY MK_COMPONENTS)
foreach(component ${components})
  get_target_property(type ${component} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_sources(megakittens PRIVATE $<TARGET_OBJECTS:${component}>)
  endif()
endforeach()
set_target_properties(megakittens PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(megakittens PUBLIC cxx_std_20)
target_include_directories(megakittens INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(megakittens PUBLIC fmt::fmt Boost::context Threads::Threads ${CMAKE_DL_LIBS})

install(TARGETS megakittens EXPORT megakittens ARCHIVE COMPONENT library)
install(DIRECTORY include/megakittens DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/megakittens)
install(EXPORT megakittens NAMESPACE megakittens:: FILE megakittens-targets.cmake DESTINATION ${package_folder}
        COMPONENT library)
write_basic_package_version_file(megakittens-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/megakittens-config.cmake.in megakittens-config.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/megakittens-config.cmake ${PROJECT_BINARY_DIR}/megakittens-config-version.cmake
        DESTINATION ${package_folder} COMPONENT library)

# Every examples/*.cpp, built in the tree from the public headers and the library alone, and run.
function(mk_examples)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY examples)
    target_link_libraries(example_${name} PRIVATE mk_warnings megakittens::megakittens)
    add_test(NAME examples.${name}_runs COMMAND example_${name})
    set_tests_properties(examples.${name}_runs PROPERTIES LABELS examples TIMEOUT 120)
  endforeach()
endfunction()

# Every examples/<name>/<name>.cpp: a plug-in, built from the public headers alone, with the device half beside it; its
# generated test is run by the command line program.
function(mk_example_plugins)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*/*.cpp)
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    add_library(plugin_${name} MODULE ${source})
    target_include_directories(plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(plugin_${name} PRIVATE mk_warnings)
    set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY examples)
    configure_file(${folder}/${name}.cuh ${PROJECT_BINARY_DIR}/examples/${name}.cuh COPYONLY)
    add_test(NAME examples.${name}_is_right
             COMMAND mk_cli types --plugin $<TARGET_FILE:plugin_${name}> --test)
    set_tests_properties(examples.${name}_is_right PROPERTIES LABELS examples TIMEOUT 300
                         ENVIRONMENT MEGAKITTENS_CACHE_DIR=${PROJECT_BINARY_DIR}/examples/cache)
  endforeach()
endfunction()

# Plug-ins that must be refused: one of another version, one with two types of one name, and a library that is none (tests/support/plugins).
function(mk_bad_plugins)
  foreach(name another_version no_plugin throwing_entry throwing_name twins)
    add_library(plugin_${name} MODULE ${PROJECT_SOURCE_DIR}/tests/support/plugins/${name}.cpp)
    target_include_directories(plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(plugin_${name} PRIVATE mk_warnings)
    set_target_properties(plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY plugins)
  endforeach()
endfunction()

# Installs this build into a folder of its own, then builds and runs the examples as a project outside the tree.
function(mk_test_install)
  set(flags "")
  if(MK_SANITIZE)
    set(flags -fsanitize=${MK_SANITIZE})
  endif()
  add_test(NAME install.examples_build_outside_the_tree
           COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
                   -DFLAGS=${flags} -P ${PROJECT_SOURCE_DIR}/tests/install/check.cmake)
  set_tests_properties(install.examples_build_outside_the_tree PROPERTIES LABELS install TIMEOUT 300)
endfunction()
