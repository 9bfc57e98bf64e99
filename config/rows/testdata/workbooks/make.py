"""Makes workbooks of many formats, and what LibreOffice shows of each cell, into a directory.

    /usr/bin/python3 make.py DIRECTORY

It needs LibreOffice (Debian: libreoffice-calc) and openpyxl (python3-openpyxl).
"""
import datetime
import html
import os
import subprocess
import sys
import tempfile
import zipfile

import openpyxl
from openpyxl.formatting.rule import CellIsRule, IconSetRule, Rule
from openpyxl.styles import NamedStyle
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.styles.numbers import NumberFormat

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.abspath(sys.argv[1])
MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
PACKAGE = 'http://schemas.openxmlformats.org/package/2006/'
VALUES = ['0', '1', '42', '-42', '1234', '4711', '0.5', '0.125', '1.234', '12345.5', '-12345.5', '1000000',
          '12345678.25', '46353', '46353.5', '46353.6041666667', '0.25']


def inline(text):
    return '<c t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>' % html.escape(text)


def package(name, rows, formats, styles='styles.xml', related=True, head='', tail='', dxfs=''):
    """A workbook of one sheet, as XML: rows are lists of cells, style i + 1 has format i."""
    def relation(number, kind, target):
        return '<Relationship Id="r%d" Type="%s/%s" Target="%s"/>' % (number, OFFICE, kind, target)

    relations = '<Relationships xmlns="%srelationships">%%s</Relationships>' % PACKAGE
    parts = {
        '[Content_Types].xml': '<Types xmlns="%scontent-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        '<Override PartName="/xl/%s" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>' % (PACKAGE, styles),
        '_rels/.rels': relations % relation(1, 'officeDocument', 'xl/workbook.xml'),
        'xl/workbook.xml': '<workbook xmlns="%s" xmlns:r="%s"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>' % (MAIN, OFFICE),
        'xl/_rels/workbook.xml.rels': relations % (relation(1, 'worksheet', 'worksheets/sheet1.xml') + (relation(2, 'styles', styles) if related else '')),
        'xl/' + styles: '<styleSheet xmlns="%s"><numFmts>%s</numFmts><fonts><font><sz val="10"/></font></fonts><fills><fill/></fills><borders><border/></borders>'
        '<cellStyleXfs><xf numFmtId="0"/></cellStyleXfs><cellXfs><xf numFmtId="0" xfId="0"/>%s</cellXfs>%s</styleSheet>' % (
            MAIN,
            ''.join('<numFmt numFmtId="%d" formatCode="%s"/>' % (200 + i, html.escape(f)) for i, f in enumerate(formats) if isinstance(f, str)),
            ''.join('<xf numFmtId="%d" xfId="0" applyNumberFormat="1"/>' % (200 + i if isinstance(f, str) else f) for i, f in enumerate(formats)),
            dxfs),
        'xl/worksheets/sheet1.xml': '<worksheet xmlns="%s">%s<sheetData>%s</sheetData>%s</worksheet>' % (
            MAIN, head, ''.join('<row r="%d">%s</row>' % (i, ''.join(cells)) for i, cells in enumerate(rows, 1)), tail),
    }
    with zipfile.ZipFile(os.path.join(OUT, name + '.xlsx'), 'w', zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(zipfile.ZipInfo(part), '<?xml version="1.0" encoding="UTF-8"?>' + content, zipfile.ZIP_DEFLATED)


def number(value, style):
    return '<c s="%d"><v>%s</v></c>' % (style, value)


def matrix(formats):
    for style, name in enumerate(formats, 1):
        yield ([inline(str(name))] + [number(v, style) for v in VALUES] +
               ['<c s="%d" t="inlineStr"><is><t>%s</t></is></c>' % (style, text) for text in ('99', 'Ada')] +
               ['<c s="%d" t="b"><v>1</v></c>' % style])


def formats():
    with open(os.path.join(HERE, 'formats.txt'), encoding='utf-8') as file:
        codes = file.read().split('\n')[:-1]
    package('formats', matrix(codes), codes)
    package('builtin', matrix(range(90)), list(range(90)))
    few = ['00000', '0"."00', '0,', ';;;"landlord"', 'yyyy-mm-dd']
    package('capital', matrix(few), few, styles='Styles.xml')
    package('unrelated', matrix(few), few, related=False)
    column = ['<c r="%s1"><v>4711</v></c>' % name for name in 'AB'] + ['<c r="C1" s="0"><v>4711</v></c>', '<c r="D1" s="2"><v>42</v></c>']
    package('columns', [column], ['0,', '0.00'], head='<cols><col min="2" max="4" style="1"/></cols>')
    rule = '<conditionalFormatting sqref="%s"><cfRule type="cellIs" dxfId="%d" priority="%d" operator="greaterThan"><formula>100</formula></cfRule></conditionalFormatting>'
    package('conditional', [[number(v, 1) for v in ('42', '4711', '4711', '4711', '12')]], ['0'],
            tail=rule % ('A1 B1', 0, 1) + rule % ('C1:C9', 1, 2),
            dxfs='<dxfs><dxf><numFmt numFmtId="300" formatCode="0,"/></dxf><dxf><font><b/></font></dxf></dxfs>')


def openpyxl_book():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = 'Pay'
    sheet.append(['id', 'name', 'net', 'paid on', 'at', 'rate', 'ok'])
    for i in range(1, 6):
        sheet.append([i, 'Ada %d' % i, 4120.8 * i, datetime.date(2026, 11, 20 + i), datetime.datetime(2026, 11, 20, 14, 30), 0.125 * i, i % 2 == 0])
    for row in sheet.iter_rows(min_row=2):
        for cell, code in zip(row, ['00000', None, '#,##0.00', 'yyyy-mm-dd', None, '0.0%', None]):
            if code:
                cell.number_format = code
    sheet['C3'].number_format = '#,##0.00 [$€-407]'
    sheet['C4'].style = 'Comma'
    sheet['C5'].style = 'Currency'
    sheet['F5'].style = 'Percent'
    style = NamedStyle(name='Thousands', number_format='0,')
    book.add_named_style(style)
    sheet['C6'].style = 'Thousands'
    other = book.create_sheet('Rules')
    for row, value in enumerate([42, 4711, 12.5, 99], 1):
        other.cell(row=row, column=1, value=value)
        other.cell(row=row, column=2, value=value)
        other.cell(row=row, column=3, value=value)
    scaled = DifferentialStyle(numFmt=NumberFormat(numFmtId=190, formatCode='0"."00'))
    other.conditional_formatting.add('A1:A4', Rule(type='cellIs', operator='greaterThan', formula=['50'], dxf=scaled))
    other.conditional_formatting.add('B1:B4', IconSetRule('3Arrows', 'percent', [0, 33, 67], showValue=False))
    other.conditional_formatting.add('C1:C4', CellIsRule(operator='lessThan', formula=['50']))
    book.save(os.path.join(OUT, 'openpyxl.xlsx'))


def office(target, where, *files):
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(['soffice', '-env:UserInstallation=file://' + home, '--headless', '--convert-to', target, '--outdir', where, *files],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    os.makedirs(OUT, exist_ok=True)
    formats()
    openpyxl_book()
    with tempfile.TemporaryDirectory() as own:
        office('xlsx:Calc MS Excel 2007 XML', own, os.path.join(OUT, 'formats.xlsx'), os.path.join(HERE, '..', 'libreoffice.fods'))
        os.replace(os.path.join(own, 'formats.xlsx'), os.path.join(OUT, 'libreoffice-formats.xlsx'))
        os.replace(os.path.join(own, 'libreoffice.xlsx'), os.path.join(OUT, 'libreoffice.xlsx'))
    books = sorted(os.path.join(OUT, name) for name in os.listdir(OUT) if name.endswith('.xlsx'))
    # A comma between fields, marks around texts where needed, UTF-8, cells as they show, every sheet.
    office('csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1', OUT, *books)


main()
