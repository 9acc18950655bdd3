# cmake -DSOURCE=... -DBUILD=... [-DFLAGS=...] -P check.cmake: see mk_test_install.
set(prefix ${BUILD}/install-test/prefix)
set(outside ${BUILD}/install-test/examples)
file(REMOVE_RECURSE ${BUILD}/install-test)
foreach(step
    "--install;${BUILD};--prefix;${prefix};--component;library"
    "-S;${SOURCE}/tests/install;-B;${outside};-G;Ninja;-DCMAKE_PREFIX_PATH=${prefix};-DEXAMPLES=${SOURCE}/examples;-DCMAKE_CXX_FLAGS=${FLAGS}"
    "--build;${outside}")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${outside} --output-on-failure --no-tests=error
                COMMAND_ERROR_IS_FATAL ANY)
