# SPDX-License-Identifier: Apache-2.0
# Embeds kernel files, preludes and the default configs in the binary: the installed program needs no file beside it.
# suites/gemm/kernel.cl becomes 'const char embed_suites_gemm_kernel_cl[]' in generated/embedded.c, with a table
# (path, text) for lookup by path: base/embedded.h.
file(GLOB embedded_files RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS suites/*.cl suites/*/*.cl harness/*.cl backends/*/prelude.h
     configs/*.yaml reports/*.css)
set(ASSAY_GENERATED ${CMAKE_BINARY_DIR}/generated/embedded.c)
set(embedded_paths "")
foreach(path ${embedded_files})
  list(APPEND embedded_paths ${CMAKE_SOURCE_DIR}/${path})
endforeach()
string(REPLACE ";" "," embedded_argument "${embedded_files}")
add_custom_command(
  OUTPUT ${ASSAY_GENERATED}
  COMMAND ${CMAKE_COMMAND} -DOUT=${ASSAY_GENERATED} -DROOT=${CMAKE_SOURCE_DIR} -DFILES=${embedded_argument}
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
  DEPENDS ${embedded_paths} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
  VERBATIM)
