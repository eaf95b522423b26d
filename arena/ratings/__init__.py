"""Ratings and standings: a fold over results, which knows no game, bot, store or wire format.

Ratings are computed with the package `trueskill`. Its code is free software, but the TrueSkill name
and method are Microsoft's: according to the package's documentation, others may use them for
non-commercial projects only. So this is for non-commercial tournaments; for others, replace
`arena.ratings.fold`, the only module that imports the package.
"""
