/* SPDX-License-Identifier: Apache-2.0
 *
 * Charts: gnuplot as a child that may be absent, hang or fail; its output made fit for a page; gaps
 * that are named. */
#include "made_result.h"

#include "reports/charts.h"
#include "reports/drawing.h"
#include "reports/gnuplot.h"
#include "reports/matrix.h"
#include "reports/notices.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static const char folder[] = "test_charts_bin";
static const char program[] = "test_charts_bin/gnuplot";
static const char result_path[] = "test_charts.jsonl";

/* What gnuplot 5.4 prints, shortened to the forms that are rewritten. */
static const char printed[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"  standalone=\"no\"?>\n<svg \n width=\"600\"\n"
    " xmlns=\"http://www.w3.org/2000/svg\"\n xmlns:xlink=\"http://www.w3.org/1999/xlink\"\n>\n"
    "<title>Gnuplot</title>\n<desc>Produced by GNUPLOT 5.4 patchlevel 4 </desc>\n"
    "<g id=\"gnuplot_canvas\">\n<defs><circle id='gpDot' r='0.5'/>"
    "<use xlink:href='#gpDot' id='gpPt6' fill='currentColor'/></defs>\n"
    "<g id=\"gnuplot_plot_1\" ><title>gnuplot_plot_1</title>\n"
    "<path stroke='rgb(  0,   0,   0)'  d='M1,2'/><path stroke='rgb(  1,   2,   3)'/>"
    "<path stroke='rgb(1,3,1)'/><text fill=\"black\" font-family=\"sans\">_L0_______</text>"
    "<text>_L7_</text></g>\n</g>\n</svg>\n";

static void use_program(const char *script)
{
    mkdir(folder, 0700);
    unlink(program);
    if (script != NULL) {
        FILE *file = fopen(program, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n%s\n", script);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(chmod(program, 0700), 0);
    }
}

/* Finds folder/gnuplot alone; the old value is to be given back to restore_path. */
static char *only_folder(void)
{
    char *old = text_duplicate(getenv("PATH"));
    char directory[2048], path[4096];
    assert_non_null(getcwd(directory, sizeof directory));
    snprintf(path, sizeof path, "%s/%s", directory, folder);
    setenv("PATH", path, 1);
    return old;
}

static void restore_path(char *old)
{
    setenv("PATH", old, 1);
    free(old);
    use_program(NULL);
    rmdir(folder);
}

static void test_gnuplot_run_absent(void **state)
{
    (void)state;
    struct text out = {0};
    struct error err = {0};
    use_program(NULL);
    char *old = only_folder();
    assert_int_equal(gnuplot_run("plot 1\n", 5000, &out, &err), CODE_NOTHING);
    assert_string_equal(err.message, "gnuplot is not installed");
    assert_int_equal(out.length, 0);
    restore_path(old);
}

static void test_gnuplot_run_hangs(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "while :; do :; done",                       /* reads nothing, prints nothing */
        "exec >&- 2>&-; while :; do :; done",        /* closes its output and stays */
        "while :; do echo x; done >&2",              /* complains for ever: too much or too long */
        "(while :; do :; done) & exec <&- ; exit 0", /* a grandchild keeps the streams open */
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct text out = {0};
        struct error err = {0};
        use_program(scripts[i]);
        char *old = only_folder();
        assert_int_equal(gnuplot_run("plot 1\n", 300, &out, &err), CODE_TIMEOUT);
        assert_non_null(strstr(err.message, "time limit"));
        restore_path(old);
        text_release(&out);
    }
}

/* True if the process runs; one that is dead but not yet reaped does not. */
static bool runs(long pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    const char *bracket = strrchr(line, ')');
    return read && bracket != NULL && bracket[2] != 'Z' && bracket[2] != 'X';
}

/* What the program started is killed with it, also where the program itself ended in time. */
static void test_gnuplot_run_leaves_no_process(void **state)
{
    (void)state;
    struct text out = {0};
    struct error err = {0};
    use_program("/bin/sleep 60 & echo $! >test_charts_bin/pid; exec <&- ; exit 0");
    char *old = only_folder();
    assert_int_equal(gnuplot_run("plot 1\n", 300, &out, &err), CODE_TIMEOUT);
    FILE *file = fopen("test_charts_bin/pid", "r");
    long pid = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    for (int i = 0; i < 200 && runs(pid); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_false(runs(pid));
    unlink("test_charts_bin/pid");
    restore_path(old);
    text_release(&out);
}

static void test_gnuplot_run_fails(void **state)
{
    (void)state;
    struct text out = {0};
    struct error err = {0};
    use_program("echo partial; printf 'a warning\\n\\nline 3: bad command\\n\\n' >&2; exit 1");
    char *old = only_folder();
    assert_int_equal(gnuplot_run("plot 1\n", 5000, &out, &err), CODE_IO);
    assert_string_equal(err.message, "gnuplot failed: line 3: bad command");
    assert_int_equal(out.length, 0);
    restore_path(old);
}

/* More than a socket holds, both ways: neither side may wait for the other for ever. */
static void test_gnuplot_run_large_script(void **state)
{
    (void)state;
    struct text script = {0}, out = {0};
    struct error err = {0};
    text_pad(&script, 'x', 3000000);
    use_program("exec /bin/cat");
    char *old = only_folder();
    assert_int_equal(gnuplot_run(text_string(&script), 20000, &out, &err), CODE_OK);
    assert_int_equal(out.length, script.length);
    restore_path(old);
    text_release(&script);
    text_release(&out);
}

static void test_gnuplot_run_environment(void **state)
{
    (void)state;
    struct text out = {0};
    struct error err = {0};
    use_program("/usr/bin/env; echo \"arguments: $*\"");
    char *old = only_folder();
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setenv("GNUTERM", "dumb", 1);
    assert_int_equal(gnuplot_run("", 5000, &out, &err), CODE_OK);
    unsetenv("LC_ALL");
    unsetenv("GNUTERM");
    restore_path(old);
    assert_non_null(strstr(text_string(&out), "LC_ALL=C\n"));
    assert_non_null(strstr(text_string(&out), "arguments: --default-settings\n"));
    assert_null(strstr(text_string(&out), "GNUTERM"));
    assert_null(strstr(text_string(&out), "de_DE"));
    text_release(&out);
}

static void test_drawing_finish(void **state)
{
    (void)state;
    struct drawing drawing;
    struct text out = {0};
    struct error err = {0};
    char mark[DRAWING_MARK_BYTES];
    drawing_begin(&drawing, 600, 400);
    assert_string_equal(drawing_mark(&drawing, "<b>&`rm`'", mark), "_L0______");
    assert_int_equal(
        drawing_finish(&drawing, printed, "chart-3", "a < b", "what it shows", &out, &err),
        CODE_OK);
    const char *svg = text_string(&out);
    assert_true(text_starts_with(svg, "<svg viewBox=\"0 0 600 400\""));
    assert_non_null(strstr(svg, "<title id=\"chart-3-title\">a &lt; b</title>"));
    assert_non_null(strstr(svg, "<desc id=\"chart-3-desc\">what it shows</desc>"));
    assert_non_null(strstr(svg, " id=\"chart-3-gnuplot_plot_1\""));
    assert_non_null(strstr(svg, " href='#chart-3-gpDot' id='chart-3-gpPt6'"));
    assert_non_null(strstr(svg, "stroke='currentColor'  d='M1,2'"));
    assert_non_null(strstr(svg, "stroke='var(--series-3)'"));
    assert_non_null(strstr(svg, "stroke='var(--line)'"));
    assert_non_null(strstr(svg, "<text fill=\"currentColor\">&lt;b&gt;&amp;`rm`&#39;</text>"));
    assert_non_null(strstr(svg, "<text>_L7_</text>")); /* no text was kept under this number */
    assert_null(strstr(svg, "xmlns"));
    assert_null(strstr(svg, "http"));
    assert_null(strstr(svg, "rgb("));
    assert_null(strstr(svg, "<title>"));
    text_clear(&out);
    assert_int_equal(drawing_finish(&drawing, "<svg><desc></desc>", "x", "", "", &out, &err),
                     CODE_IO);
    assert_int_equal(drawing_finish(&drawing, "", "x", "", "", &out, &err), CODE_IO);
    text_release(&out);
    drawing_release(&drawing);
}

static void test_chart_cut(void **state)
{
    (void)state;
    char out[DRAWING_MARK_BYTES];
    assert_string_equal(chart_cut("short", 5, out), "short");
    assert_string_equal(chart_cut("longer", 5, out), "long…");
    assert_string_equal(chart_cut("grüße und mehr", 6, out), "grüße…");
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_true(strlen(chart_cut(text, 900, out)) < DRAWING_MARK_BYTES);
}

static void test_chart_scale_for(void **state)
{
    (void)state;
    static const struct {
        double most, factor;
        const char *unit;
    } cases[] = {{999, 1, "B/s"},
                 {1000, 1e3, "kB/s"},
                 {48.2e9, 1e9, "GB/s"},
                 {1.2e15, 1e15, "PB/s"},
                 {1e20, 1e15, "PB/s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chart_scale scale;
        chart_scale_for(cases[i].most, "B/s", &scale);
        assert_true(scale.factor > cases[i].factor * 0.999 &&
                    scale.factor < cases[i].factor * 1.001);
        assert_string_equal(scale.unit, cases[i].unit);
    }
}

/* A sweep over four sizes with one missing, and two single cases. */
static struct result *make_result(void)
{
    struct made made;
    struct result *result;
    made_init(&made, "0123456789abcdef0123456789abcdef");
    made_device(&made, "opencl:x:0", "Card", "gpu", false, "device");
    made_device(&made, "opencl:y:0", "Card", "gpu", false, "device");
    for (int device = 0; device < 2; device++) {
        const char *id = device == 0 ? "opencl:x:0" : "opencl:y:0";
        made_ok(&made, "copy@1 direction=h2d bytes=4096 tier=portable", id, 4096, 1e3);
        made_ok(&made, "copy@1 direction=h2d bytes=65536 tier=portable", id, 65536, 1e4);
        if (device == 0)
            made_record(&made, "copy@1 direction=h2d bytes=1048576 tier=portable", id, "crashed",
                        "signal 11", 1048576, json_null());
        else
            made_ok(&made, "copy@1 direction=h2d bytes=1048576 tier=portable", id, 1048576, 1e5);
        made_ok(&made, "copy@1 direction=h2d bytes=16777216 tier=portable", id, 16777216, 1e6);
        made_ok(&made, "pixel@1 n=1 tier=portable", id, 16000000, device == 0 ? 1e6 : 2e6);
        if (device == 0)
            made_record(&made, "pixel@1 n=2 tier=portable", id, "timeout", "120 s", 16000000,
                        json_null());
        else
            made_ok(&made, "pixel@1 n=2 tier=portable", id, 16000000, 1e6);
    }
    made_write(&made, result_path, true);
    made_load(result_path, &result);
    unlink(result_path);
    return result;
}

static void test_charts_draw(void **state)
{
    (void)state;
    struct result *result = make_result();
    const struct result *results[] = {result};
    struct report_input input = {.results = results, .result_count = 1, .difference = 0.02};
    struct matrix *matrix;
    struct charts charts = {0};
    struct notices notices = {0};
    struct error err = {0};
    assert_int_equal(matrix_create(&input, &matrix, &err), CODE_OK);
    charts_draw(matrix, &charts, &notices);
    if (notices.count > 0 && strstr(notices.lines[0], "not installed") != NULL) {
        charts_release(&charts);
        notices_release(&notices);
        matrix_destroy(matrix);
        result_destroy(result);
        skip();
    }
    assert_int_equal(notices.count, 0);
    assert_int_equal(charts.count, 4); /* sweep and samples of copy, rates and samples of pixel */
    assert_string_equal(charts.items[0].title, "copy@1: rate against size");
    const char *note = text_string(&charts.items[0].note);
    assert_non_null(strstr(note, "opencl:x:0 at 1 MiB (crashed)"));
    assert_null(strstr(note, "opencl:y:0 at"));
    assert_non_null(strstr(text_string(&charts.items[0].svg), ">64 KiB</text>"));
    const char *rates = text_string(&charts.items[2].svg);
    assert_non_null(strstr(rates, ">timeout</text>"));
    assert_non_null(strstr(rates, ">16.0 GB/s ±"));
    assert_non_null(strstr(rates, ">8.00 GB/s ±"));
    assert_non_null(strstr(text_string(&charts.items[3].svg), ">n = 40</text>"));
    for (size_t i = 0; i < charts.count; i++) {
        assert_null(strstr(text_string(&charts.items[i].svg), "_L"));
        assert_null(strstr(text_string(&charts.items[i].svg), "rgb("));
    }
    charts_release(&charts);
    notices_release(&notices);
    matrix_destroy(matrix);
    result_destroy(result);
}

static void test_charts_draw_without_gnuplot(void **state)
{
    (void)state;
    struct result *result = make_result();
    const struct result *results[] = {result};
    struct report_input input = {.results = results, .result_count = 1, .difference = 0.02};
    struct matrix *matrix;
    struct charts charts = {0};
    struct notices notices = {0};
    struct error err = {0};
    assert_int_equal(matrix_create(&input, &matrix, &err), CODE_OK);
    use_program(NULL);
    char *old = only_folder();
    charts_draw(matrix, &charts, &notices);
    restore_path(old);
    assert_int_equal(charts.count, 0);
    assert_int_equal(notices.count, 1);
    assert_string_equal(notices.about[0], "charts");
    assert_non_null(strstr(notices.lines[0], "all are left out: gnuplot is not installed"));
    charts_release(&charts);
    notices_release(&notices);
    matrix_destroy(matrix);
    result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gnuplot_run_absent),
        cmocka_unit_test(test_gnuplot_run_hangs),
        cmocka_unit_test(test_gnuplot_run_leaves_no_process),
        cmocka_unit_test(test_gnuplot_run_fails),
        cmocka_unit_test(test_gnuplot_run_large_script),
        cmocka_unit_test(test_gnuplot_run_environment),
        cmocka_unit_test(test_drawing_finish),
        cmocka_unit_test(test_chart_cut),
        cmocka_unit_test(test_chart_scale_for),
        cmocka_unit_test(test_charts_draw),
        cmocka_unit_test(test_charts_draw_without_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
