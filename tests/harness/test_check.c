/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of whole outputs, on a made-up suite whose answer is its index: a single wrong
 * element anywhere, NaN, infinity and untouched memory are found; what is within the tolerance
 * passes; the norms are right. */
#include "harness/check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 600001 }; /* more than two chunks, ragged */

static int reference_calls;

static void reference(const struct case_spec *spec, const struct step *step,
                      const void *const *data, uint32_t out, uint64_t begin, uint64_t end,
                      double *result)
{
    (void)spec;
    (void)step;
    (void)data;
    (void)out;
#pragma omp atomic
    reference_calls++;
    for (uint64_t i = begin; i < end; i++)
        result[i - begin] = (double)i;
}

static struct tolerance tolerance(const struct case_spec *spec)
{
    (void)spec;
    return (struct tolerance){.absolute = 0.25, .relative = 0x1p-20, .derivation = "made up"};
}

static const struct suite suite = {.name = "index", .reference = reference, .tolerance = tolerance};

struct fixture {
    struct backend_driver *driver;
    struct check_input input;
    struct case_spec spec;
    struct step step;
    struct buffer *buffers[1];
    const void *data[1];
    struct check_memory memory;
    float *values;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct error err = {0};
    memset(&fixture, 0, sizeof fixture);
    struct backend_device *device = NULL;
    if (driver_open(backend_find("host"), NULL, &fixture.driver, &err) != CODE_OK ||
        device_open(fixture.driver, 1, &device, &err) != CODE_OK ||
        buffer_create(device, MEMORY_DEVICE, COUNT * sizeof(float), &fixture.buffers[0], &err) !=
            CODE_OK)
        return -1;
    fixture.spec.suite = &suite;
    fixture.step.buffer_count = 1;
    fixture.step.buffers[0] =
        (struct buffer_spec){.name = "out", .role = BUFFER_OUT, .type = TYPE_F32, .count = COUNT};
    fixture.input = (struct check_input){.device = device,
                                         .spec = &fixture.spec,
                                         .step = &fixture.step,
                                         .buffers = fixture.buffers,
                                         .data = fixture.data};
    fixture.values = fixture.buffers[0]->pointer;
    for (int i = 0; i < COUNT; i++)
        fixture.values[i] = (float)i;
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct backend_device *device = fixture->input.device;
    check_memory_release(&fixture->memory);
    buffer_destroy(device, fixture->buffers[0]);
    device_close(device);
    driver_close(fixture->driver);
    return 0;
}

static struct check check_now(struct fixture *fixture)
{
    struct check check;
    struct error err = {0};
    assert_int_equal(check_outputs(&fixture->input, &fixture->memory, &check, &err), CODE_OK);
    assert_true(check.elements == COUNT);
    return check;
}

static void test_check_outputs_right(void **state)
{
    struct fixture *fixture = *state;
    fixture->values[10] += 0.125f; /* within the tolerance: 0.25 */
    struct check check = check_now(fixture);
    assert_true(check_passed(&check));
    assert_true(check.max_error == 0.125);
    assert_true(fabs(check.rms_error - 0.125 / sqrt(COUNT)) < 1e-12);
}

static void test_check_outputs_one_wrong_element(void **state)
{
    struct fixture *fixture = *state;
    static const int places[] = {0, 4, 262143, 262144, COUNT - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        float right = fixture->values[places[i]];
        fixture->values[places[i]] = right + 1.0f + right * 0x1p-19f;
        struct check check = check_now(fixture);
        assert_false(check_passed(&check));
        assert_true(check.mismatches == 1 && check.first_bad == (uint64_t)places[i]);
        fixture->values[places[i]] = right;
    }
    struct check check = check_now(fixture);
    assert_true(check_passed(&check));
}

static void test_check_outputs_not_finite(void **state)
{
    struct fixture *fixture = *state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fixture->values[77] = bad[i];
        struct check check = check_now(fixture);
        char reason[512];
        assert_false(check_passed(&check));
        assert_true(check.nonfinite == 1 && check.mismatches == 1);
        check_reason(&check, reason, sizeof reason);
        assert_non_null(strstr(reason, "1 non-finite"));
    }
}

static void test_check_outputs_poison(void **state)
{
    struct fixture *fixture = *state;
    memset(fixture->values, 0xff, COUNT * sizeof(float));
    struct check check = check_now(fixture);
    assert_true(check.mismatches == COUNT && check.nonfinite == COUNT);
}

/* What was verified once is recognised by its bits; what changed since is compared again. */
static void test_check_outputs_again(void **state)
{
    struct fixture *fixture = *state;
    (void)check_now(fixture);
    reference_calls = 0;
    struct check check = check_now(fixture);
    assert_true(check_passed(&check) && reference_calls == 0);
    fixture->values[300000] = -1.0f;
    check = check_now(fixture);
    assert_true(reference_calls == 1 && check.first_bad == 300000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_check_outputs_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_outputs_one_wrong_element, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_outputs_not_finite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_outputs_poison, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check_outputs_again, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("harness/check", tests, NULL, NULL);
}
