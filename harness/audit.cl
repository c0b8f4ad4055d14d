/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel of known work that clocks and ways of waiting are audited with: a chain of dependent
 * integer steps a work-item.
 * Its length comes from more work-items, not from longer loops; the host knows each result in
 * closed form. */
KERNEL void audit_spin(GLOBAL u32 *out, u32 iterations, u32 seed)
{
    u32 item = (u32)global_id(0);
    u32 x = item + seed;
    for (u32 i = 0; i < iterations; i++)
        x = x * 1664525u + 1013904223u;
    out[item] = x;
}
