# SPDX-License-Identifier: Apache-2.0
# assay_warnings(TARGET): the warning set of the project, and the sanitizers when asked for.
function(assay_warnings target)
  set(common -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wformat=2
      -Wswitch-enum -Wdouble-promotion -Wnull-dereference -Wvla)
  set(c_only -Wstrict-prototypes -Wmissing-prototypes)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND common -Wlogical-op)
  endif()
  if(ASSAY_WERROR)
    list(APPEND common -Werror)
  endif()
  foreach(flag ${common})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:${flag}> $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endforeach()
  foreach(flag ${c_only})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:${flag}>)
  endforeach()
  # A fused multiply-add chosen by the compiler would change the reference from machine to machine.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(ASSAY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-omit-frame-pointer
                           -fno-sanitize-recover=undefined)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()
