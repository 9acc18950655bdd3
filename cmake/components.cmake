# One static library per folder of src/. mk_component(ir DEPENDS support) makes mk_ir from src/ir/**.cpp;
# the DEPENDS lists follow the layer order in docs/dev/layout.md: a folder may only name earlier ones.
function(mk_component name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  set(target mk_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE mk_warnings)
    mk_precompile_headers(${target} components)
    if(MK_CLANG_TIDY)
      set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "${MK_CLANG_TIDY_PROGRAM};--quiet")
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(${target} ${scope} mk_${dependency})
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY MK_COMPONENTS ${target})
endfunction()

# Adds the device sources to the library, as text that NVRTC compiles where the source tree is not at hand.
function(mk_embed_sources target)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cuh
       ${PROJECT_SOURCE_DIR}/src/device/*.hpp ${PROJECT_SOURCE_DIR}/src/program/*.hpp ${PROJECT_SOURCE_DIR}/src/ops/*.hpp
       ${PROJECT_SOURCE_DIR}/src/ops/*.def ${PROJECT_SOURCE_DIR}/src/ir/*.def ${PROJECT_SOURCE_DIR}/src/ir/element_type.hpp
       ${PROJECT_SOURCE_DIR}/src/support/integers.hpp)
  set(output ${PROJECT_BINARY_DIR}/embedded_sources.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_sources.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${script} ${sources} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/src -DOUTPUT=${output} -P ${script}
                     COMMAND ${CMAKE_COMMAND} -E touch ${output})
  target_sources(${target} PRIVATE ${output})
endfunction()

# The command line program `megakittens`, from src/<folder>.
function(mk_program folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(mk_${folder} ${sources})
  set_target_properties(mk_${folder} PROPERTIES OUTPUT_NAME megakittens)
  list(TRANSFORM ARG_DEPENDS PREPEND mk_)
  target_link_libraries(mk_${folder} PRIVATE mk_warnings ${ARG_DEPENDS} ${ARG_LINK})
  target_include_directories(mk_${folder} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  mk_precompile_headers(mk_${folder} program <nlohmann/json.hpp>)
  # Its time goes into instantiations of the option parser, which run once.
  target_compile_options(mk_${folder} PRIVATE $<$<CONFIG:Release>:-O1>)
  install(TARGETS mk_${folder} RUNTIME COMPONENT library)
endfunction()

# A CUDA driver and an NVRTC for machines without either, which tests let the library open by name (tests/stand_in).
function(mk_stand_ins)
  add_library(mk_stand_in_driver MODULE ${PROJECT_SOURCE_DIR}/tests/stand_in/driver.cpp
              ${PROJECT_SOURCE_DIR}/tests/stand_in/emulate.cpp)
  target_link_libraries(mk_stand_in_driver PRIVATE mk_warnings mk_emulator mk_runtime -Wl,-Bsymbolic)
  add_library(mk_stand_in_compiler MODULE ${PROJECT_SOURCE_DIR}/tests/stand_in/compiler.cpp)
  target_link_libraries(mk_stand_in_compiler PRIVATE mk_warnings)
endfunction()

# What every test may use: tests/support, GoogleTest, and the path of the tree.
function(mk_test_support)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
  list(FILTER sources EXCLUDE REGEX /support/plugins/)  # libraries of their own: mk_bad_plugins()
  get_property(components GLOBAL PROPERTY MK_COMPONENTS)
  set(scope INTERFACE)
  if(sources)
    set(scope PUBLIC)
    add_library(mk_test_support STATIC ${sources})
    target_link_libraries(mk_test_support PRIVATE mk_warnings)
    mk_precompile_headers(mk_test_support components)
  else()
    add_library(mk_test_support INTERFACE)
  endif()
  target_include_directories(mk_test_support ${scope} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(mk_test_support ${scope} MK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             MK_STAND_IN_DRIVER="$<TARGET_FILE:mk_stand_in_driver>"
                             MK_STAND_IN_COMPILER="$<TARGET_FILE:mk_stand_in_compiler>")
  target_link_libraries(mk_test_support ${scope} ${components} GTest::gmock GTest::gtest)
  add_dependencies(mk_test_support mk_stand_in_driver mk_stand_in_compiler)
endfunction()

# One test program per folder of tests/, from its *_test.cpp, linked with every component: the folder is the CTest label.
# ENVIRONMENT is a variable that each test gets. SHORT names test suites (a GoogleTest filter) that get SHORT_TIMEOUT instead.
function(mk_test_folder label)
  cmake_parse_arguments(ARG "" "TIMEOUT;SHORT;SHORT_TIMEOUT;ENVIRONMENT" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${label}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(target ${label}_tests)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE mk_warnings mk_test_support GTest::gtest_main ${ARG_LINK})
  mk_precompile_headers(${target} tests <gmock/gmock.h> <gtest/gtest.h>)
  set(others "")
  if(ARG_SHORT)
    gtest_discover_tests(${target} TEST_PREFIX "${label}." DISCOVERY_TIMEOUT 60 TEST_FILTER "${ARG_SHORT}"
                         PROPERTIES LABELS ${label} TIMEOUT ${ARG_SHORT_TIMEOUT})
    set(others TEST_FILTER "-${ARG_SHORT}")
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${label}." DISCOVERY_TIMEOUT 60 ${others}
                       PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()

# The GPU's programs on the stand-in for the driver, whose launches run on the emulator: so that they build and pass
# before a GPU is there. Left out: what launches hundreds of times, and what takes longest (products of 1024 and of odd
# sizes, most random graphs, and one type of three in some others).
function(mk_gpu_programs_on_the_stand_in)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/gpu/*_test.cpp)
  add_executable(gpu_tests_on_the_stand_in ${sources})
  target_link_libraries(gpu_tests_on_the_stand_in PRIVATE mk_warnings mk_test_support GTest::gtest_main)
  add_dependencies(gpu_tests_on_the_stand_in mk_stand_in_driver mk_stand_in_compiler)
  set(left_out *GpuTwins* *two_programs_on_two_streams* *replays_that_overlap* *GpuOddSizes* *MLP_1024* *mlp_1024*
      *More/GpuRandomGraphs* *slices_and_transposes_f32 *behind_products*/f16 *GpuViews*_f16
      *GpuProducts*_f16)
  list(JOIN left_out ":" left_out)
  add_test(NAME emulator.gpu_programs_on_the_stand_in
           COMMAND gpu_tests_on_the_stand_in "--gtest_filter=*Gpu*-${left_out}")
  set(environment MEGAKITTENS_REQUIRE_GPU=1 "MK_STAND_IN=emulate=1,sms=132"
                  MEGAKITTENS_CUDA_DRIVER=$<TARGET_FILE:mk_stand_in_driver>
                  MEGAKITTENS_NVRTC=$<TARGET_FILE:mk_stand_in_compiler>
                  MEGAKITTENS_CACHE_DIR=${PROJECT_BINARY_DIR}/stand_in_cache)
  set_tests_properties(emulator.gpu_programs_on_the_stand_in PROPERTIES LABELS emulator TIMEOUT 1200 ENVIRONMENT
                                                                        "${environment}")
endfunction()

# tools/check_report.cpp writes docs/concepts/check-report.md; a small version of it is a test.
function(mk_check_report)
  add_executable(check_report ${PROJECT_SOURCE_DIR}/tools/check_report.cpp)
  target_link_libraries(check_report PRIVATE mk_warnings mk_test_support)
  add_test(NAME emulator.check_report_small COMMAND check_report --small)
  set_tests_properties(emulator.check_report_small PROPERTIES LABELS emulator TIMEOUT 1200)
endfunction()

# tools/gpu_faults.cpp plants faults in GPU builds and runs them; tests/cli runs it on the stand-ins for CUDA.
function(mk_gpu_faults)
  add_executable(gpu_faults ${PROJECT_SOURCE_DIR}/tools/gpu_faults.cpp)
  target_link_libraries(gpu_faults PRIVATE mk_warnings mk_test_support)
endfunction()

# tools/racecheck_interpreter.cpp compiles what tools/gpu/sanitize.sh runs under racecheck.
function(mk_racecheck_interpreter)
  add_executable(racecheck_interpreter ${PROJECT_SOURCE_DIR}/tools/racecheck_interpreter.cpp)
  target_link_libraries(racecheck_interpreter PRIVATE mk_warnings mk_test_support)
endfunction()

# tools/gpu_costs.cpp measures what the interpreter itself costs; bench/gpu/run.py calls it.
function(mk_gpu_costs)
  add_executable(gpu_costs ${PROJECT_SOURCE_DIR}/tools/gpu_costs.cpp)
  target_link_libraries(gpu_costs PRIVATE mk_warnings mk_runtime mk_schedule mk_passes)
endfunction()

# One program per bench/*_bench.cpp, named after it; they may use what tests use.
function(mk_bench_folder)
  find_package(benchmark REQUIRED)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_bench.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE mk_warnings mk_test_support benchmark::benchmark)
  endforeach()
endfunction()
