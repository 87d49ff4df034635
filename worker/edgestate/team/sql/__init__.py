"""Every statement that the team's state sends to the system of record, one file per subject.

Numbers bind as REAL, so JSON is built from columns, never from bound numbers. A guard stands
directly after the write that it guards; a check that looks at no `changes()` stands before it.
"""
