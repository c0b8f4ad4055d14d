/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers with units: strict parsing of what people write in configs and on the command line, and
 * formatting of what tables show. SI throughout: 1 kB = 1000 bytes, 1 KiB = 1024 bytes; a bare 'M'
 * is refused as ambiguous. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Each parser takes the whole text or fails with CODE_CONFIG and a message that repeats it and says
 * what was expected ("'1e6': expected a plain decimal number"). The caller adds file:line:column.
 */

/* Plain decimal digits only: no sign, no leading zero (but "0"), no exponent, no separators, no 0x.
 */
enum code quantity_parse_count(const char *text, uint64_t *count, struct error *err);
/* A decimal number with a byte unit: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, an optional blank
 * between. The value is a whole number of bytes > 0 that fits 64 bits. */
enum code quantity_parse_bytes(const char *text, uint64_t *bytes, struct error *err);
/* A decimal number with ns, us, ms, s, min or h; > 0, at most 30 days. */
enum code quantity_parse_duration_ns(const char *text, uint64_t *ns, struct error *err);
/* "2%" or "2 %" or "0.5%": a share, 0.02; 0 to 100 %. */
enum code quantity_parse_share(const char *text, double *share, struct error *err);

/* Formatters write at most capacity bytes with the terminator and return out. Non-finite values
 * become "n/a". */
enum { QUANTITY_BYTES = 32 };
/* "12.3 GB/s", "456 GFLOP/s": SI prefix, three significant digits; unit is "B/s", "FLOP/s", … */
char *quantity_format_si(double value, const char *unit, char out[QUANTITY_BYTES]);
/* "1.00 GiB", "64.0 MiB", "17 B". */
char *quantity_format_bytes(uint64_t bytes, char out[QUANTITY_BYTES]);
/* "1.23 ms", "45 s", "3 min 20 s". */
char *quantity_format_duration(double ns, char out[QUANTITY_BYTES]);
/* A relative change 0.032 as "+3.2 %", -0.0004 as "0.0 %", with a true minus sign (U+2212). */
char *quantity_format_change(double change, char out[QUANTITY_BYTES]);
/* 600014848 as "600,014,848". */
char *quantity_format_count(uint64_t count, char out[QUANTITY_BYTES]);

#endif
