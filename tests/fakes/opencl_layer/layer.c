/* SPDX-License-Identifier: Apache-2.0
 *
 * The two entry points of an OpenCL layer (cl_layer.h): its version, and the table of calls it
 * gives the loader. */
#include "layer.h"

#include <CL/cl_layer.h>

#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

VISIBLE cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t bytes, void *value,
                                          size_t *bytes_given)
{
    static const char name[] = "assay fault layer";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
        return CL_INVALID_VALUE;
    size_t needed = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (value != NULL && bytes < needed)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, what == CL_LAYER_NAME ? (const void *)name : (const void *)&version, needed);
    if (bytes_given != NULL)
        *bytes_given = needed;
    return CL_SUCCESS;
}

VISIBLE cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                       cl_uint *entries_given, const cl_icd_dispatch **dispatch)
{
    static cl_icd_dispatch table;
    static cl_icd_dispatch next;
    if (target == NULL || entries_given == NULL || dispatch == NULL)
        return CL_INVALID_VALUE;
    size_t bytes = entries * sizeof(void *);
    memcpy(&next, target, bytes < sizeof next ? bytes : sizeof next);
    table = next;
    layer.target = &next;
    const char *text = getenv("ASSAY_FAKE_OPENCL");
    faults_parse(text != NULL ? text : "");
    devices_install(&table);
    kernels_install(&table);
    waits_install(&table);
    stamps_install(&table);
    memory_install(&table);
    programs_install(&table);
    objects_install(&table);
    *entries_given = (cl_uint)(sizeof table / sizeof(void *));
    *dispatch = &table;
    return CL_SUCCESS;
}
