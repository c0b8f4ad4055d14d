/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer target of the config reader: any bytes give a config or an error that names a place,
 * and a config's resolved form reads as the same config. */
#include "base/text.h"
#include "harness/config.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config, again;
    struct error err = {.code = CODE_OK};
    size_t offset = 0;
    enum code code = config_parse("f", (const char *)data, size, &config, &err);
    if (code != CODE_OK) {
        assert(code == CODE_CONFIG && text_starts_with(err.message, "f:"));
        assert(text_is_utf8(err.message, strlen(err.message), &offset) ||
               strlen(err.message) == sizeof err.message - 1); /* cut off at the limit */
        return 0;
    }
    struct text resolved = {0}, second = {0};
    config_resolved(&config, &resolved);
    code = config_parse("f", text_string(&resolved), resolved.length, &again, &err);
    assert(code == CODE_OK);
    config_resolved(&again, &second);
    assert(resolved.length == second.length && strcmp(resolved.bytes, second.bytes) == 0);
    assert(strcmp(config.sha256, again.sha256) == 0);
    text_release(&resolved);
    text_release(&second);
    config_release(&config);
    config_release(&again);
    return 0;
}
